package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A lock is used as those of the JDK are. */
abstract class LockViewRules {
  final Trial trial;

  LockViewRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that the manager tells the holders of its leases apart, and not its threads")
  void aLockViewIsReentrantForOneViewAndThreadAlone() throws InterruptedException {
    trial.needs(LockCapability.KEEP_ALIVE);
    LockManager locks = trial.open();
    Lease probe = trial.take(locks, trial.name("probe"), trial.ttl());
    Attempts.inVain(trial, locks, probe.name());
    LockRequest viewed = keptAlive(trial.name("views"), trial.ttl());
    Lock one = Locks.asLock(locks, viewed);
    Lock other = Locks.asLock(locks, viewed);
    Lock shared = Locks.asLock(locks, keptAlive(trial.name("threads"), trial.ttl()));

    assertThat(one.tryLock()).isTrue();
    assertThat(one.tryLock()).as("entered again").isTrue();
    one.unlock();
    assertThat(enters(other)).as("entered by another view, after one unlock of two").isFalse();
    one.unlock();
    assertThatThrownBy(one::unlock).isInstanceOf(IllegalMonitorStateException.class);

    assertThat(shared.tryLock()).isTrue();
    assertThat(onAnotherThread(() -> enters(shared))).as("entered by another thread").isFalse();
    shared.unlock();
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that a Lock view of a lease that is not kept alive is refused")
  void aLockViewNeedsKeepAlive() {
    LockManager locks = trial.open();

    assertThatThrownBy(() -> Locks.asLock(locks, LockRequest.of(trial.name("view"), trial.ttl())))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("keepAliveUpTo");
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that release() is false for a lost lease, and requireHeld() throws")
  void unlockingALostLockSaysSo() {
    trial.needs(LockCapability.KEEP_ALIVE);
    Duration hold = trial.briefTtl();
    LockManager locks = trial.openForShortTtl();
    Lock lock = Locks.asLock(locks, LockRequest.of(trial.name("view"), hold).keepAliveUpTo(hold));
    lock.lock();
    Lease probe = trial.take(locks, LockRequest.of(trial.name("probe"), hold).keepAliveUpTo(hold));
    long locked = System.nanoTime();
    trial.soon().until("its time is over", () -> System.nanoTime() - locked > hold.toNanos());
    if (probe.isHeld() || probe.release()) {
      abort("a lease does not end with its longest hold, which is another rule's");
    }

    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
  }

  private static LockRequest keptAlive(String name, Duration ttl) {
    return LockRequest.of(name, ttl).keepAliveUpTo(Duration.ofHours(1));
  }

  private static boolean enters(Lock lock) {
    try {
      return lock.tryLock();
    } catch (LockException e) {
      return false; // how it is told is another rule's
    }
  }

  private static boolean onAnotherThread(BooleanSupplier call) throws InterruptedException {
    AtomicBoolean result = new AtomicBoolean();
    Thread thread = new Thread(() -> result.set(call.getAsBoolean()), "another");
    thread.start();
    thread.join();
    return result.get();
  }
}
