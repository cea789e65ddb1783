package dev.holdfast.examples.shop;

import java.util.List;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The addresses of all instances, where each writes its own at its start. */
@Component
class Instances {
  private final JdbcClient database;
  private final String name;

  Instances(JdbcClient database, ShopProperties properties) {
    this.database = database;
    this.name = properties.instance();
  }

  /**
   * An instance.
   *
   * @param url its page
   */
  record Instance(String name, String url) {}

  @EventListener
  void started(WebServerInitializedEvent event) {
    if (event.getApplicationContext().getServerNamespace() != null) {
      return; // the actuator's own server, if it has a port of its own
    }
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
