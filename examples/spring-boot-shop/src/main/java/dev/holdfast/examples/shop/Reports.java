package dev.holdfast.examples.shop;

import static dev.holdfast.spring.Locked.WhenHeld.SKIP;

import dev.holdfast.spring.Locked;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The report, which all instances schedule and one of them writes. */
@Component
class Reports {
  static final String LOCK = "report";
  private static final int NEWEST = 5;

  private final JdbcClient database;
  private final String instance;

  Reports(JdbcClient database, ShopProperties properties) {
    this.database = database;
    this.instance = properties.instance();
  }

  @Scheduled(cron = "${shop.report.cron}")
  @Locked(
      name = LOCK,
      keepAliveUpTo = "5m",
      holdAtLeast = "${shop.report.hold-at-least}", // more than the clocks differ
      whenHeld = SKIP)
  @Transactional // a lost lock rolls back
  public void write() {
    database
        .sql(
            "insert into reports (written_at, written_by, shipped)"
                + " select current_timestamp, ?, count(shipped_by) from orders")
        .param(instance)
        .update();
  }

  /** Returns the newest reports, the newest first. */
  List<Report> newest() {
    return database
        .sql("select written_at, written_by, shipped from reports order by id desc limit ?")
        .param(NEWEST)
        .query(Report.class)
        .list();
  }
}
