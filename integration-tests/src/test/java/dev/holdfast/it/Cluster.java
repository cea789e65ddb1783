package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes on which the managers of one test meet: redis-servers of their own. Closes what it
 * opened.
 */
final class Cluster implements AutoCloseable {
  /** Longer than any test, so that no lock ends by itself unless a test wants it to. */
  static final Duration TTL = Duration.ofSeconds(30);

  /** The ttl of foreign keys: longer, so that it shows when a driver gives them ours. */
  static final Duration FOREIGN_TTL = Duration.ofSeconds(60);

  /** Patient, so that a busy machine is not taken for an outage, and quick to try again. */
  private static final Map<String, String> DEFAULTS =
      Map.of("nodeTimeout", "2s", "connectTimeout", "10s", "retryDelay", "20ms");

  private final Backend backend;
  private final TestNodes servers;
  private final List<LockManager> managers = new ArrayList<>();

  private Cluster(Backend backend, TestNodes servers) {
    this.backend = backend;
    this.servers = servers;
  }

  static Cluster of(Backend backend) {
    return of(backend, 5);
  }

  static Cluster of(Backend backend, int nodes) {
    return new Cluster(backend, TestNodes.builder().count(nodes).config(Backend.USERS).start());
  }

  /** Leaves out what makes no sense for a user who may run no scripts. */
  void assumeScripts(String why) {
    assumeThat(backend.runsScripts()).as(why).isTrue();
  }

  List<TestNode> nodes() {
    return servers.all();
  }

  TestNode node(int index) {
    return nodes().get(index);
  }

  /**
   * Opens a manager, which is closed at the end of the test.
   *
   * @param options for example {@code nodeTimeout=50ms}
   */
  LockManager open(String... options) {
    return openAt(servers.uris(), options);
  }

  /** The same, with other URIs for the nodes. */
  synchronized LockManager openAt(List<String> nodeUris, String... options) {
    LockManager manager = LockManager.open(backend.url(nodeUris), merged(options));
    managers.add(manager);
    return manager;
  }

  /** Returns the value that keeps others out on a node, if there is one. */
  static @Nullable String value(TestNode node, String name) {
    return (String) node.command("GET", name);
  }

  static Duration ttl(TestNode node, String name) {
    return Duration.ofMillis(longOf(node.command("PTTL", name)));
  }

  static long longOf(@Nullable Object reply) {
    if (reply instanceof Long number) {
      return number;
    }
    throw new AssertionError("no number: " + reply);
  }

  /** Waits until a node votes for a manager's locks. */
  static void awaitVoteOf(TestNode node, LockManager locks) {
    Eventually.soon()
        .ignoreExceptionsInstanceOf(LockOutageException.class)
        .until(
            () -> {
              try (Lease lease = locks.tryAcquire("vote", TTL).orElseThrow()) {
                // answered by each node after its vote
                assertThat(locks.inspect("vote")).isPresent();
                return lease.token().equals(value(node, "vote"));
              }
            });
  }

  /** The keys of locks on a node. Those that belong to Holdfast itself are not counted. */
  static List<String> locksOn(TestNode node) {
    return node.command("KEYS", "*") instanceof List<?> keys
        ? keys.stream().map(String::valueOf).filter(key -> !key.startsWith("holdfast:")).toList()
        : List.of();
  }

  /** Waits until no node holds a lock. */
  void awaitNoLocks() {
    Eventually.soon()
        .untilAsserted(
            () -> {
              for (TestNode node : nodes()) {
                List<String> left = locksOn(node);
                if (!left.isEmpty()) {
                  throw new AssertionError("left on " + node + ": " + left);
                }
              }
            });
  }

  @Override
  public synchronized void close() {
    managers.forEach(LockManager::close);
    servers.close();
  }

  private Map<String, String> merged(String... options) {
    Map<String, String> merged = new HashMap<>(DEFAULTS);
    for (String option : options) {
      int equals = option.indexOf('=');
      merged.put(option.substring(0, equals), option.substring(equals + 1));
    }
    return merged;
  }

  /** Returns once the replica has all that its master has. */
  static void follow(TestNode replica, TestNode master) {
    assumeThat(System.getProperty(NodeSource.PROPERTY, ""))
        .as("a container does not reach another by the address that we have")
        .doesNotStartWith("docker");
    replica.command("REPLICAOF", master.host(), Integer.toString(master.port()));
    Eventually.soon()
        .until(
            () ->
                String.valueOf(replica.command("INFO", "replication"))
                    .contains("master_link_status:up"));
  }
}
