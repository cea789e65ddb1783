package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The heap of a process that has waited for very many locks, or asked very often for a loss. */
@ForEachDriver
@Tag("soak")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class HeapSoakTest {
  /** Fewer where a machine has no time: {@code -Dholdfast.names=50000}. */
  private static final int MANY = Integer.getInteger("holdfast.names", 1_000_000);

  private static final int AT_ONCE = 200;

  /** A kept entry takes more than this, and noise in a heap of a million less. */
  private static final double MAX_BYTES_EACH = 30;

  private static final Duration TTL = Duration.ofSeconds(50);

  private final Cluster cluster;

  HeapSoakTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @DisplayName("names that have no waiter any more cost no memory")
  void namesWithoutWaitersCostNoMemory() {
    cluster.assumeScripts("releases are published by scripts");
    LockManager holder = cluster.open("fencing=false");
    LockManager waiter = cluster.open("fencing=false", "retryDelay=60s");
    waitFor(holder, waiter, 0, MANY / 10);
    long before = usedHeap();
    waitFor(holder, waiter, MANY / 10, MANY);
    assertFlat(before, MANY - MANY / 10);
  }

  @Test
  @DisplayName("asking a lease for its loss costs no memory")
  void askingALeaseForItsLossCostsNoMemory() throws InterruptedException {
    try (Lease lease =
        cluster.open().acquire(LockRequest.of("polled", TTL).keepAliveUpTo(Duration.ofHours(1)))) {
      long before = usedHeap();
      for (int i = 0; i < MANY; i++) {
        assertThat(lease.onLoss().isDone()).isFalse();
      }
      assertFlat(before, MANY);
      assertThat(lease.isHeld()).isTrue();
    }
  }

  /** Waits for each name once, without success. */
  private void waitFor(LockManager holder, LockManager waiter, int from, int to) {
    for (int first = from; first < to; first += AT_ONCE) {
      String batch = "batch" + first;
      List<LockRequest> requests =
          IntStream.range(0, AT_ONCE).mapToObj(i -> LockRequest.of(batch + ":" + i, TTL)).toList();
      List<Lease> held =
          all(requests.stream().map(holder::tryAcquireAsync).toList()).stream()
              .map(Optional::orElseThrow)
              .toList();
      List<CompletableFuture<Optional<Lease>>> waiting =
          requests.stream().map(r -> waiter.tryAcquireAsync(r.waitForever())).toList();
      for (TestNode node : cluster.nodes()) {
        Eventually.soon()
            .until(
                () ->
                    node.command("PUBSUB", "CHANNELS", "holdfast:released:" + batch + ":*")
                            instanceof List<?> received
                        && received.size() == AT_ONCE);
      }
      waiting.forEach(one -> one.cancel(false));
      all(held.stream().map(l -> l.releaseAsync()).toList());
    }
  }

  private static <T> List<T> all(List<CompletableFuture<T>> futures) {
    return futures.stream().map(CompletableFuture::join).toList();
  }

  private static void assertFlat(long before, int count) {
    double grown = (usedHeap() - before) / (double) count;
    assertThat(grown).as("bytes each that the heap has grown by").isLessThan(MAX_BYTES_EACH);
  }

  /** After collections, of which the last ones find nothing more. */
  private static long usedHeap() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      used = Math.min(used, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return used;
  }
}
