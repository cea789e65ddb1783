package dev.holdfast.spring;

import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A table of orders on a real server.
 *
 * @param jdbc uses the connection of the thread's transaction, if there is one
 * @param others uses another connection for each statement, and commits the statement
 */
record Orders(JdbcTemplate jdbc, JdbcTemplate others) {
  /** Makes the table again, with the order 1 in the state new. */
  static Orders create() {
    Orders orders =
        new Orders(
            new JdbcTemplate(PostgresServer.dataSource()),
            new JdbcTemplate(PostgresServer.dataSource()));
    orders.others.execute("drop table if exists orders");
    orders.others.execute(
        "create table orders (id int primary key, state text not null, fence bigint not null)");
    orders.others.execute("insert into orders values (1, 'new', 0)");
    return orders;
  }

  /** Returns the database of {@link #jdbc}, for a transaction manager. */
  DataSource dataSource() {
    return Objects.requireNonNull(jdbc.getDataSource());
  }

  /** Makes each commit that inserts an order take this long. */
  void slowCommits(int millis) {
    others.execute(
        "create or replace function slow_commit() returns trigger language plpgsql as"
            + " $$ begin perform pg_sleep("
            + millis
            + " / 1000.0); return null; end $$");
    others.execute(
        "create constraint trigger slow after insert on orders deferrable initially deferred"
            + " for each row execute function slow_commit()");
  }

  void insert(int id) {
    jdbc.update("insert into orders values (?, 'new', 0)", id);
  }

  void write(String state) {
    jdbc.update("update orders set state = ? where id = 1", state);
  }

  /** Returns whether the order was written, which a token of a later holder prevents. */
  boolean writeFenced(String state, long token) {
    return jdbc.update(
            "update orders set state = ?, fence = ? where id = 1 and fence < ?",
            state,
            token,
            token)
        == 1;
  }

  /** Reads in the transaction of the thread. */
  String read() {
    return state(jdbc);
  }

  /** Reads on a second connection. */
  String readElsewhere() {
    return state(others);
  }

  int countElsewhere() {
    return Objects.requireNonNull(
        others.queryForObject("select count(*) from orders", Integer.class));
  }

  private static String state(JdbcTemplate jdbc) {
    return Objects.requireNonNull(
        jdbc.queryForObject("select state from orders where id = 1", String.class));
  }
}
