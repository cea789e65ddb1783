package dev.holdfast.examples.fenced;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNodes;
import java.sql.SQLException;
import java.time.Duration;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lock can be over while its holder still writes: he was paused, and could not know it. */
class FencedStoreTest {
  private static final Duration TTL = Duration.ofSeconds(1);

  private final TestNodes nodes = TestNodes.start(3);
  private final LockManager locks =
      LockManager.open("redlock:jedis:" + String.join(",", nodes.uris()) + "?nodeTimeout=300ms");
  private final FencedStore store = newStore();

  @AfterEach
  void close() {
    locks.close();
    nodes.close();
  }

  @Test
  void aPausedHolderThatComesBackLateIsRejected() throws Exception {
    Lease paused = locks.acquire("report", TTL);
    String draft = store.read("report").orElse("") + "what the first one wrote";

    // The first holder stands still past the end of its lock, and another one gets it.
    Lease next = locks.acquire(LockRequest.of("report", TTL).waitAtMost(TTL.multipliedBy(10)));
    store.write("report", "what the next one wrote", next.fencingToken().orElseThrow());

    // Now the first one goes on where it stood: it looked at its lease too early.
    assertThatThrownBy(() -> store.write("report", draft, paused.fencingToken().orElseThrow()))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("read it again");
    assertThat(store.read("report")).contains("what the next one wrote");
  }

  @Test
  void aHolderMayWriteAsOftenAsItLikes() throws Exception {
    try (Lease lease = locks.acquire("report", TTL)) {
      long token = lease.fencingToken().orElseThrow();
      store.write("report", "first", token);
      store.write("report", "second", token);
    }

    assertThat(store.read("report")).contains("second");
  }

  @Test
  void theFirstHolderMayComeLate() throws Exception {
    store.write("report", "what the next one wrote", 2);

    assertThatThrownBy(() -> store.write("report", "what the first one wrote", 1))
        .isInstanceOf(StaleTokenException.class);
    assertThat(store.read("report")).contains("what the next one wrote");
  }

  private static FencedStore newStore() {
    JdbcDataSource database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
    try {
      return new FencedStore(database);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }
}
