package dev.holdfast.examples.shop;

import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The addresses of all instances, where each writes its own at its start. */
@Component
class Instances {
  private final JdbcClient database;
  private final String name;

  Instances(JdbcClient database, @Value("${shop.instance}") String name) {
    this.database = database;
    this.name = name;
  }

  /**
   * An instance.
   *
   * @param url its page
   */
  record Instance(String name, String url) {}

  @EventListener
  void started(WebServerInitializedEvent event) {
    database
        .sql("merge into instances key (name) values (?, ?)")
        .params(name, "http://localhost:" + event.getWebServer().getPort())
        .update();
  }

  List<Instance> all() {
    return database
        .sql("select name, url from instances order by name")
        .query(Instance.class)
        .list();
  }
}
