package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** No answer is what was true a moment ago. */
abstract class FreshnessRules {
  /** After so many, somebody may think that the next will be like them. */
  private static final int REFUSALS = 12;

  /** Tolerance for two clocks that are read one after the other. */
  private static final Duration SLACK = Duration.ofMillis(2);

  final Trial trial;

  FreshnessRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that inspect asks the backend each time, and remembers nothing")
  void inspectShowsTheHolderOfNow() {
    trial.needs(LockCapability.INSPECTION);
    String name = trial.name("inspected");
    LockManager operator = trial.open();
    if (operator.inspect(name).isPresent()) {
      abort("somebody is seen where nobody holds, which is another rule's");
    }
    Lease first = trial.takeOnAll(trial.open("owner=first"), name, trial.ttl());
    String owner = seen(operator, name).owner();
    Attempts.giveBack(trial, first);
    trial.awaitFree(name);

    assertThat(operator.inspect(name)).as("after the release").isEmpty();

    trial.takeOnAll(trial.open("owner=second"), name, trial.ttl());
    assertThat(seen(operator, name).owner()).as("the next owner").isNotEqualTo(owner);
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that inspect asks the backend about what the manager itself holds, too")
  void inspectShowsWhoHasTakenALockFromThisVeryManager() {
    trial.needs(LockCapability.INSPECTION);
    trial.needsNodes(1);
    String name = trial.name("inspected");
    LockManager locks = trial.open("owner=first");
    trial.takeOnAll(locks, name, trial.ttl());
    String owner = seen(locks, name).owner();

    trial.nodes().forEach(node -> node.occupy(name, "another", trial.foreignTtl()));

    assertThat(seen(locks, name).owner()).as("the next owner").isNotEqualTo(owner);
    trial.nodes().forEach(node -> node.remove(name));
    assertThat(locks.inspect(name)).as("once it is removed").isEmpty();
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that no manager remembers that a lock was taken, however often it was")
  void whatWasRefusedOftenIsGotOnceItIsFree() {
    Tries.anyOf( // a machine that stalls is an outage
        () -> {
          LockManager locks = trial.open();
          String name = trial.name("refused");
          Rival rival = Rival.holding(trial, name);
          for (int i = 0; i < REFUSALS; i++) {
            Attempts.inVain(trial, locks, name);
          }

          rival.letGo();

          assertThat(trial.gets(locks, name)).as("granted at once").isTrue();
        });
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that the holder which is named is asked for when the wait is over")
  void theHolderThatIsNamedIsThatOfNow() {
    trial.needs(LockCapability.INSPECTION);
    String name = trial.name("held");
    LockManager locks = trial.open();
    Lease first = trial.takeOnAll(trial.open("owner=first"), name, trial.ttl());
    Optional<String> holder = holderNamed(locks, name);
    Attempts.giveBack(trial, first);
    trial.awaitFree(name);
    trial.takeOnAll(trial.open("owner=second"), name, trial.ttl());

    Optional<String> next = holderNamed(locks, name);

    if (holder.isPresent() && next.isPresent()) {
      assertThat(next).isNotEqualTo(holder);
    }
  }

  @Test
  @Rule("RES-2")
  @IfThisFails("check that isHeld() looks each time, also if it was asked a moment ago")
  void whoReleasesALeaseSeesAtOnceThatItIsOver() {
    LockManager locks = trial.open();
    for (int i = 0; i < 5; i++) {
      Lease lease = trial.take(locks, trial.name("released"), trial.ttl());
      lease.requireHeld();
      boolean held = lease.isHeld();

      Trial.regardless(lease::release);

      assertThat(held).isTrue();
      assertThat(lease.isHeld()).as("held after its release").isFalse();
      assertThat(catchThrowable(lease::requireHeld)).as("required after its release").isNotNull();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @IfThisFails("check that isHeld() looks at the clock each time it is asked")
  void isHeldIsFalseFromTheEndOnHoweverOftenItIsAsked() {
    LockManager locks = trial.openForShortTtl();
    for (int i = 0; i < 3; i++) {
      Lease lease = trial.take(locks, trial.name("ends"), trial.briefTtl());
      Duration left = lease.remaining();
      long end = System.nanoTime() + left.plus(SLACK).toNanos();
      if (left.compareTo(trial.briefTtl()) > 0) {
        abort("more is left than was asked for, which is another rule's");
      }

      boolean held = true;
      while (held) {
        long asked = System.nanoTime();
        held = lease.isHeld();
        assertThat(held && asked > end).as("held after its end").isFalse();
        LockSupport.parkNanos(100_000);
      }
    }
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check that what is declared depends on no node, and not on what was done before")
  void theDeclarationDoesNotChangeWithTheState() {
    LockManager lazy = trial.open("connect=lazy");
    assertThat(lazy.capabilities()).as("before it connects").isEqualTo(trial.capabilities());
    LockManager locks = trial.open("nodeTimeout=150ms");
    if (!trial.nodes().isEmpty() && trial.knows(TckFault.FROZEN)) {
      String name = trial.name("silent");
      trial.begin(TckFault.FROZEN, trial.blocking(), name);
      Trial.regardless(() -> locks.tryAcquire(name, trial.ttl()));
      assertThat(locks.capabilities()).as("in an outage").isEqualTo(trial.capabilities());
      trial.end(TckFault.FROZEN, trial.blocking(), name);
    }

    locks.close();

    assertThat(locks.capabilities()).as("once it is closed").isEqualTo(trial.capabilities());
  }

  private Optional<String> holderNamed(LockManager locks, String name) {
    LockRequest once = trial.request(name).waitAtMost(Duration.ZERO);
    return Optional.ofNullable(
            catchThrowableOfType(LockUnavailableException.class, () -> locks.acquire(once)))
        .flatMap(LockUnavailableException::holder);
  }

  private static LockStatus seen(LockManager operator, String name) {
    return operator
        .inspect(name)
        .orElseThrow(() -> new AssertionError(name + " is held, and inspect shows nobody"));
  }
}
