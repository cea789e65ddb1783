package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What is wrong with an option, a name or a ttl is said. */
abstract class InputRules {
  final Trial trial;

  InputRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that an option's value is read by LockUrl, or by as clear words")
  void aWrongOptionIsShownWithItsValue() {
    assertBadInput(() -> trial.open("retryDelay=soon"), "retryDelay", "soon");
    assertBadInput(() -> trial.open("retryDelay=50"), "retryDelay", "50");
    assertBadInput(() -> trial.open("maxTtl=0ms"), "maxTtl", "0");
    assertBadInput(() -> trial.open("maxTtl=-1s"), "maxTtl", "-1");
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that operators' names are held to the same limits as those of requests")
  void aWrongNameIsShownWithTheLimitAndAsksNobody() {
    LockManager locks = trial.open();
    String tooLong = "n".repeat(1025);
    long before = trial.requests();

    if (trial.declares(LockCapability.INSPECTION)) {
      assertBadInput(() -> locks.inspect(""));
      assertBadInput(() -> locks.inspect(tooLong), "nnn", "1024");
    }
    if (trial.declares(LockCapability.FORCE_RELEASE)) {
      assertBadInput(() -> locks.forceRelease(""));
      assertBadInput(() -> locks.forceRelease(tooLong), "nnn", "1024");
    }
    assertBadInput(() -> locks.tryAcquire("", trial.ttl()));
    assertThat(trial.requests() - before).as("requests to nodes").isZero();
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that the message shows the ttl, the limit, and the option that sets it")
  void aTtlThatIsTooLongIsShownWithTheLimit() {
    LockManager locks = trial.open("maxTtl=45s");
    long before = trial.requests();

    Throwable thrown =
        catchThrowable(() -> locks.tryAcquire(trial.name("long"), Duration.ofSeconds(46)));

    if (thrown == null) {
      abort("that it is refused is another rule's");
    }
    assertThat(thrown)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("46", "maxTtl", "45");
    assertThat(trial.requests() - before).as("requests to nodes").isZero();
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that the ttl of an extension is held to the limits of the first one")
  void anExtensionByAWrongTtlIsShownWithTheLimit() {
    trial.needs(LockCapability.EXTENSION);
    Lease lease = trial.takeOnAll(trial.open("maxTtl=45s"), trial.name("extended"), trial.ttl());
    long before = trial.requestsWhenAllAreAnswered();

    assertBadInput(() -> lease.extend(Duration.ZERO), "ttl", "0");
    assertBadInput(() -> lease.extend(Duration.ofSeconds(-1)), "ttl", "-1");
    assertBadInput(() -> lease.extend(Duration.ofSeconds(46)), "46", "maxTtl", "45");
    assertThat(trial.requests() - before).as("requests to nodes").isZero();
  }

  private static void assertBadInput(ThrowingCallable call, String... parts) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(LockConfigurationException.class);
    for (String part : parts) {
      assertThat(thrown).hasMessageContaining(part);
    }
  }
}
