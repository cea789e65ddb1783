package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A manager is closed while it is in use. */
@ForEachBackend
class CloseTest {
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final Cluster cluster;
  private final LockManager closing;
  private final LockManager other;
  private final Seed seed = new Seed();

  CloseTest(Backend backend) {
    cluster = Cluster.of(backend);
    closing = cluster.open("nodeTimeout=500ms");
    other = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"CLOSE-1", "CLOSE-2", "LOSS-4"})
  void nobodyElseGetsALockBeforeItsTtlIsOver() throws InterruptedException {
    long start = System.nanoTime();
    Lease lease =
        closing
            .tryAcquire(LockRequest.of("open", SHORT).keepAliveUpTo(Duration.ofHours(1)))
            .orElseThrow();
    closing.close();

    Eventually.soon().until(() -> lease.lost().toCompletableFuture().isDone());
    assertThat(lease.lost().toCompletableFuture().join()).isEqualTo(LossReason.CLOSED);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThat(lease.release()).isFalse();
    assertThatThrownBy(() -> lease.extend(SHORT)).isInstanceOf(LockLostException.class);
    assertThat(other.tryAcquire("open", Cluster.TTL)).isEmpty();

    Lease next =
        other.acquire(LockRequest.of("open", Cluster.TTL).waitAtMost(Duration.ofSeconds(10)));
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(SHORT.minusMillis(10), SHORT.plusSeconds(1));
    assertThat(next.release()).isTrue();
  }

  @Test
  @Rule({"CLOSE-2", "WAIT-9"})
  void aClosedManagerGrantsNothingAndLetsNobodyWait() throws InterruptedException {
    Lease held = other.tryAcquire("busy", Cluster.TTL).orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        closing.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever());

    closing.close();

    Eventually.soon().until(waiter::isDone);
    assertThatThrownBy(waiter::join).hasCauseInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closing.tryAcquire("free", Cluster.TTL))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> closing.inspect("free")).isInstanceOf(IllegalStateException.class);
    assertThat(held.release()).isTrue();
    closing.close();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("CLOSE-3")
  void aGraceLetsHoldersRelease() throws InterruptedException {
    Lease lease = closing.tryAcquire("open", Cluster.TTL).orElseThrow();
    try (Workers workers = new Workers()) {
      workers.start(() -> closing.close(Duration.ofSeconds(30)));
      Eventually.soon().until(() -> refuses(closing));
      lease.requireHeld();
      assertThat(lease.release()).isTrue();
      workers.join();
    }

    assertThat(other.tryAcquire("open", Cluster.TTL)).isPresent();
  }

  @Test
  @Rule({"CLOSE-1", "CLOSE-3"})
  void aGraceEnds() throws InterruptedException {
    Lease lease = closing.tryAcquire("open", Cluster.TTL).orElseThrow();
    Duration grace = Duration.ofMillis(200);

    long start = System.nanoTime();
    closing.close(grace);

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(grace, grace.plusSeconds(3));
    assertThat(lease.isHeld()).isFalse();
    assertThat(other.tryAcquire("open", Cluster.TTL)).isEmpty();
  }

  @Test
  @Rule("CLOSE-3")
  void anInterruptEndsAGraceAndIsKept() throws InterruptedException {
    Lease lease = closing.tryAcquire("open", Cluster.TTL).orElseThrow();

    Thread.currentThread().interrupt();
    long start = System.nanoTime();
    closing.close(Duration.ofSeconds(30));
    boolean flag = Thread.interrupted();

    assertThat(flag).isTrue();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Rule({"CLOSE-1", "CLOSE-2", "ACQ-3"})
  void attemptsUnderWayAreEitherGrantedOrLeaveNothing() throws InterruptedException {
    for (int round = 0; round < 20; round++) {
      LockManager locks = cluster.open();
      List<CompletableFuture<Optional<Lease>>> attempts = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        String name = "round " + round + ", attempt " + i;
        attempts.add(locks.tryAcquireAsync(LockRequest.of(name, Cluster.TTL)));
      }
      seed.pauseUpTo(2_000);
      locks.close();

      for (int i = 0; i < attempts.size(); i++) {
        CompletableFuture<Optional<Lease>> attempt = attempts.get(i);
        String name = "round " + round + ", attempt " + i;
        Eventually.soon().until(attempt::isDone);
        if (attempt.isCompletedExceptionally()) {
          assertThatThrownBy(attempt::join)
              .isInstanceOf(CompletionException.class)
              .hasCauseInstanceOf(IllegalStateException.class);
          Eventually.soon()
              .untilAsserted(
                  () -> assertThat(other.inspect(name)).as("%s, %s", seed, name).isEmpty());
        } else {
          assertThat(attempt.join().orElseThrow().isHeld()).isFalse();
          assertThat(other.tryAcquire(name, Cluster.TTL)).as("%s, %s", seed, name).isEmpty();
        }
      }
    }
  }

  @UnderLoad
  @Rule({"CLOSE-1", "CLOSE-2", "ACQ-3"})
  void attemptsUnderWayUnderLoad() throws InterruptedException {
    attemptsUnderWayAreEitherGrantedOrLeaveNothing();
  }

  @Test
  @Rule("CLOSE-4")
  void closingEndsAllOfItsThreadsAndConnections() throws InterruptedException {
    other.close();
    Lease lease = closing.tryAcquire("open", Cluster.TTL).orElseThrow();
    assertThat(lease.release()).isTrue();

    closing.close();

    Eventually.soon().untilAsserted(() -> assertThat(ours()).isEmpty());
    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(cluster.nodes())
                    .allSatisfy(
                        node ->
                            assertThat(String.valueOf(node.command("CLIENT", "LIST")).strip())
                                .as("the connection that asks is the only one")
                                .hasLineCount(1)));
  }

  private static List<String> ours() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("holdfast-") && !name.startsWith("holdfast-nodes"))
        .toList();
  }

  private static boolean refuses(LockManager locks) throws InterruptedException {
    try {
      return locks.tryAcquire("probe", Cluster.TTL).map(Lease::release).isEmpty();
    } catch (IllegalStateException closed) {
      return true;
    }
  }
}
