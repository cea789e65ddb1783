package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real servers that are still reading their data, slowly, because a setting says so. */
@ForOneDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class LoadingTest {
  private static final Duration LOADING_AT_MOST = Duration.ofSeconds(30);

  /** A server that reads its data looks at its clients after every two megabytes. */
  private static final String TWO_MEGABYTES = "x".repeat(2_100_000);

  private final Cluster cluster;
  private final LockManager locks;

  LoadingTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  @Tag("exclusion")
  @Rule({"ACQ-2", "ACQ-3", "ERR-1", "ERR-2", "FAULT-1"})
  void theLockIsGrantedExactlyWhenAQuorumHasItsData(int howMany) throws InterruptedException {
    List<TestNode> loading = cluster.nodes().subList(0, howMany);
    try (Workers workers = new Workers()) {
      for (TestNode node : loading) {
        workers.start(() -> loadSlowly(node));
      }
      loading.forEach(node -> Eventually.soon().until(() -> isLoading(node)));

      if (howMany <= 2) {
        Lease lease = locks.tryAcquire("lock", Cluster.TTL).orElseThrow();
        assertThat(lease.release()).isTrue();
      } else {
        LockOutageException outage =
            catchThrowableOfType(
                LockOutageException.class, () -> locks.tryAcquire("lock", Cluster.TTL));
        assertThat(outage.failures())
            .containsOnlyKeys(loading.stream().map(TestNode::address).toList());
        assertThat(outage.failures().values())
            .allSatisfy(cause -> assertThat(cause).hasMessageStartingWith("LOADING"));
      }

      assertThat(loading).as("still loading").allMatch(LoadingTest::isLoading);
      workers.join();
    }
    Eventually.soon()
        .until(() -> cluster.nodes().stream().allMatch(n -> Cluster.value(n, "lock") == null));
    loading.forEach(node -> Cluster.awaitVoteOf(node, locks));
  }

  private static void loadSlowly(TestNode node) {
    try (RawRedis connection = RawRedis.connect(node.host(), node.port(), LOADING_AT_MOST)) {
      connection.call("CONFIG", "SET", "rdbcompression", "no");
      for (int i = 0; i < 20; i++) {
        connection.call("SET", "data:" + i, TWO_MEGABYTES);
      }
      connection.call("CONFIG", "SET", "key-load-delay", "200000"); // microseconds
      connection.call("DEBUG", "RELOAD");
    }
  }

  private static boolean isLoading(TestNode node) {
    try {
      return node.command("PING") == null;
    } catch (RedisErrorReply e) {
      return e.code().equals("LOADING");
    } catch (NodeException slow) {
      return false; // it is asked again
    }
  }
}
