package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A waiter in one process is notified of releases in others. */
@ForEachDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class NotificationsOnNodesTest {
  private static final String CHANNEL = "holdfast:released:told";
  private static final LockRequest REQUEST = LockRequest.of("told", Cluster.TTL).waitForever();

  private static final Duration LONGER_THAN_TO_CONNECT_AGAIN = Duration.ofMillis(1_200);

  private final Cluster cluster;

  NotificationsOnNodesTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
  }

  @BeforeEach
  void scripts() {
    cluster.assumeScripts("releases are published by scripts");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("WAIT-11")
  void aWaiterOfAnotherManagerIsNotifiedOfARelease() throws InterruptedException {
    Lease held = cluster.open().acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waiting = patient().tryAcquireAsync(REQUEST);
    awaitListeners(1, cluster.nodes());

    assertThat(held.release()).isTrue();

    assertThat(waiting)
        .succeedsWithin(Duration.ofSeconds(2))
        .satisfies(lease -> assertThat(lease).isPresent());
  }

  @Test
  @Rule("WAIT-11")
  void aWaiterThatLeavesEndsItsSubscription() throws InterruptedException {
    Lease held = cluster.open().acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waiting = patient().tryAcquireAsync(REQUEST);
    awaitListeners(1, cluster.nodes());

    waiting.cancel(false);

    awaitListeners(0, cluster.nodes());
    held.close();
  }

  @Test
  @Rule("WAIT-11")
  void aNodeThatComesBackIsSubscribedToAgain() throws InterruptedException {
    Lease held = cluster.open().acquire(REQUEST);
    patient().tryAcquireAsync(REQUEST);
    awaitListeners(1, cluster.nodes());

    cluster.node(1).restart();

    awaitListeners(1, cluster.nodes());
    held.close();
  }

  @Test
  @Rule("WAIT-11")
  void aNodeThatRefusesToBeListenedToIsNotAskedAgain() throws InterruptedException {
    TestNode node = cluster.node(0);
    node.command("ACL", "SETUSER", "default", "-subscribe");
    Lease held = cluster.open().acquire(REQUEST);
    LockManager deaf = patient();
    deaf.tryAcquireAsync(REQUEST);
    awaitListeners(1, cluster.nodes().subList(1, 3));
    Eventually.soon().until(() -> refusals(node) == 1);

    Eventually.soon().during(LONGER_THAN_TO_CONNECT_AGAIN).until(() -> refusals(node) == 1);
    held.close();
  }

  private static int refusals(TestNode node) {
    return node.command("ACL", "LOG") instanceof List<?> entries
        ? entries.stream().mapToInt(NotificationsOnNodesTest::times).sum()
        : 0;
  }

  /** Like refusals are one entry, with their number. */
  private static int times(Object entry) {
    List<?> fields = (List<?>) entry;
    return Integer.parseInt(String.valueOf(fields.get(fields.indexOf("count") + 1)));
  }

  /** It would not ask again for as long as a test may take. */
  private LockManager patient() {
    return cluster.open("retryDelay=60s");
  }

  private static void awaitListeners(long count, List<TestNode> nodes) {
    for (TestNode node : nodes) {
      Eventually.soon()
          .until(() -> List.of(CHANNEL, count).equals(node.command("PUBSUB", "NUMSUB", CHANNEL)));
    }
  }
}
