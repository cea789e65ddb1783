package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A lock is used as those of the JDK are. */
public abstract class LockViewRules {
  final TckFixture fixture;

  public LockViewRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that the manager tells the holders of its leases apart, and not its threads")
  void aLockViewIsReentrantForOneViewAndThreadOnly() throws InterruptedException {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    Lease probe = fixture.take(locks, fixture.name("probe"), fixture.ttl());
    Attempts.refused(fixture, locks, probe.name());
    LockRequest viewed = keptAlive(fixture.name("views"), fixture.ttl());
    Lock one = Locks.asLock(locks, viewed);
    Lock other = Locks.asLock(locks, viewed);
    Lock shared = Locks.asLock(locks, keptAlive(fixture.name("threads"), fixture.ttl()));

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
    LockManager locks = fixture.open();

    assertThatThrownBy(
            () -> Locks.asLock(locks, LockRequest.of(fixture.name("view"), fixture.ttl())))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("keepAliveUpTo");
  }

  @Test
  @Rule("ACQ-14")
  @IfThisFails("check that release() is false for a lost lease, and requireHeld() throws")
  void unlockingALostLockSaysSo() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Duration hold = fixture.briefTtl();
    LockManager locks = fixture.openForShortTtl();
    Lock lock = Locks.asLock(locks, LockRequest.of(fixture.name("view"), hold).keepAliveUpTo(hold));
    lock.lock();
    Lease probe =
        fixture.take(locks, LockRequest.of(fixture.name("probe"), hold).keepAliveUpTo(hold));
    long locked = System.nanoTime();
    fixture.soon().until("its time is over", () -> System.nanoTime() - locked > hold.toNanos());
    if (probe.isHeld() || probe.release()) {
      AnotherRule.isBroken("a lease does not end with its longest hold");
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
      IgnoredFailures.add(e);
      return false; // other rules cover how this is reported
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
