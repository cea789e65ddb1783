package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The view as a {@link Lock}. */
@ForEachBackend
class LockViewTest {
  private static final LockRequest REQUEST =
      LockRequest.of("shared", Cluster.TTL).keepAliveUpTo(Duration.ofHours(1));

  private final Cluster cluster;
  private final LockManager locks;

  LockViewTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"ACQ-14", "ACQ-1"})
  void excludesThreadsOfOneViewAndViewsOfSeveralManagers() throws InterruptedException {
    CriticalSection section = new CriticalSection();
    Lock one = Locks.asLock(locks, REQUEST);
    Lock other = Locks.asLock(cluster.open(), REQUEST);
    try (Workers workers = new Workers()) {
      for (Lock lock : new Lock[] {one, one, other}) {
        workers.start(
            () -> {
              for (int i = 0; i < 10; i++) {
                lock.lock();
                try {
                  section.enter();
                } finally {
                  lock.unlock();
                }
              }
            });
      }
      workers.join();
    }
    section.assertEntered(30);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("ACQ-14")
  void isReentrantForOneViewAndThreadAlone() throws InterruptedException {
    Lock one = Locks.asLock(locks, REQUEST);
    Lock other = Locks.asLock(locks, REQUEST);

    assertThat(one.tryLock()).isTrue();
    assertThat(one.tryLock()).isTrue();
    assertThat(other.tryLock()).isFalse();
    one.unlock();
    assertThat(other.tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
    one.unlock();
    assertThat(other.tryLock()).isTrue();
    other.unlock();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("ACQ-14")
  void unlockingALostLockSaysSo() {
    Lock lock = Locks.asLock(locks, REQUEST);
    assertThat(lock.tryLock()).isTrue();
    assertThat(cluster.open().forceRelease("shared")).isTrue();

    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }
}
