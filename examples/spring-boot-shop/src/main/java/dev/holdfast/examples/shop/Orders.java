package dev.holdfast.examples.shop;

import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The orders, each of which one instance ships. */
@Service
class Orders {
  private static final int NEWEST = 20;
  private static final String SELECT =
      "select id, item, shipped_by,"
          + " (select count(*) from parcels where order_id = orders.id) as parcels from orders";

  private final JdbcClient database;
  private final String instance;
  private final Duration packingTime;

  Orders(JdbcClient database, ShopProperties properties) {
    this.database = database;
    this.instance = properties.instance();
    this.packingTime = properties.packingTime();
  }

  long place(String item) {
    KeyHolder key = new GeneratedKeyHolder();
    database.sql("insert into orders (item) values (?)").param(item).update(key, "id");
    return Objects.requireNonNull(key.getKeyAs(Long.class));
  }

  /**
   * Ships an order. The lock is held until the commit, and a lost lock rolls back. A holder that
   * does not know yet that it lost its lock is refused by the fencing token.
   *
   * @return the order, also if it was shipped before
   * @throws StaleHolderException if the fencing token is refused
   */
  @Locked(name = "order-#{#id}", ttl = "2s", keepAliveUpTo = "5m")
  @Transactional
  public Order ship(long id) throws InterruptedException {
    if (find(id).shippedBy() == null) {
      pack(id);
      long token = Locks.requireCurrent(lockName(id)).fencingToken().orElseThrow();
      int rows =
          database
              .sql("update orders set shipped_by = ?, fence = ? where id = ? and fence < ?")
              .params(instance, token, id, token)
              .update();
      if (rows == 0) {
        throw new StaleHolderException(id);
      }
    }
    return find(id);
  }

  Order find(long id) {
    return database.sql(SELECT + " where id = ?").param(id).query(Order.class).single();
  }

  /** Returns the newest orders, the newest first. */
  List<Order> newest() {
    return database
        .sql(SELECT + " order by id desc limit ?")
        .param(NEWEST)
        .query(Order.class)
        .list();
  }

  static String lockName(long id) {
    return "order-" + id;
  }

  /**
   * Stands for the work, whose effect must not happen twice. It keeps a connection of the pool for
   * the whole time, because the transaction has begun: work that takes long belongs into a method
   * with {@code @Locked} that begins the transaction after it.
   */
  private void pack(long id) throws InterruptedException {
    Thread.sleep(packingTime.toMillis());
    database.sql("insert into parcels values (?, ?)").params(id, instance).update();
  }
}
