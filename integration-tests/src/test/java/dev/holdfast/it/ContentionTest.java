package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several managers and threads want the same locks at the same time. */
@ForEachBackend
class ContentionTest {
  private final Cluster cluster;

  ContentionTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"ACQ-1", "WAIT-5", "REL-8"})
  void neverTwoOwnersAndNoUpdateIsLost() throws InterruptedException {
    CriticalSection section = new CriticalSection();
    LockManager[] managers = {cluster.open(), cluster.open()};
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 6; worker++) {
        LockManager locks = managers[worker % 2];
        workers.start(
            () -> {
              for (int i = 0; i < 25; i++) {
                try (Lease lease = locks.acquire("counter", Cluster.TTL)) {
                  lease.requireHeld();
                  section.enter();
                  lease.requireHeld();
                }
              }
            });
      }
      workers.join();
    }

    section.assertEntered(150);
    cluster.awaitNoLocks();
  }

  @UnderLoad
  @Rule("ACQ-1")
  void neverTwoOwnersUnderLoad() throws InterruptedException {
    neverTwoOwnersAndNoUpdateIsLost();
  }

  @Test
  @Rule({"ACQ-1", "ACQ-3"})
  void attemptsAtTheSameMomentGrantOneAtMostAndLeaveNothing() throws InterruptedException {
    List<LockManager> managers = List.of(cluster.open(), cluster.open(), cluster.open());
    for (int round = 0; round < 50; round++) {
      String name = "race " + round;
      AtomicInteger granted = new AtomicInteger();
      try (Workers workers = new Workers()) {
        for (LockManager locks : managers) {
          workers.start(
              () -> {
                if (locks.tryAcquire(name, Cluster.TTL).isPresent()) {
                  granted.incrementAndGet();
                }
              });
        }
        workers.join();
      }
      assertThat(granted.get()).isLessThanOrEqualTo(1);
      if (granted.get() == 0) {
        Lease next = managers.get(0).tryAcquire(name, Cluster.TTL).orElseThrow();
        assertThat(next.release()).isTrue();
      }
    }
  }

  @Test
  @Rule({"WAIT-1", "WAIT-5", "ACQ-3"})
  void twoLocksInOppositeOrderEndByTheirWaits() throws InterruptedException {
    Duration wait = Duration.ofMillis(100);
    CriticalSection section = new CriticalSection();
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 2; worker++) {
        LockManager locks = cluster.open();
        String first = worker == 0 ? "a" : "b";
        String second = worker == 0 ? "b" : "a";
        workers.start(
            () -> {
              int both = 0;
              while (both < 10) {
                try (Lease one = locks.acquire(first, Cluster.TTL)) {
                  var other =
                      locks.tryAcquire(LockRequest.of(second, Cluster.TTL).waitAtMost(wait));
                  if (other.isPresent()) {
                    one.requireHeld();
                    section.enter();
                    other.get().close();
                    both++;
                  }
                }
              }
            });
      }
      workers.join();
    }
    section.assertEntered(20);
    cluster.awaitNoLocks();
  }

  @UnderLoad
  @Rule({"WAIT-1", "WAIT-5"})
  void twoLocksInOppositeOrderEndUnderLoad() throws InterruptedException {
    twoLocksInOppositeOrderEndByTheirWaits();
  }
}
