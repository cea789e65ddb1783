package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Errors in an option, a name or a ttl are reported. */
public abstract class InputRules {
  final TckFixture fixture;

  public InputRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that an option's value is read by LockUrl, or by as clear words")
  void aWrongOptionIsShownWithItsValue() {
    assertBadInput(() -> fixture.open("retryDelay=soon"), "retryDelay", "soon");
    assertBadInput(() -> fixture.open("retryDelay=50"), "retryDelay", "50");
    assertBadInput(() -> fixture.open("maxTtl=0ms"), "maxTtl", "0");
    assertBadInput(() -> fixture.open("maxTtl=-1s"), "maxTtl", "-1");
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that operators' names are held to the same limits as those of requests")
  void aWrongNameIsShownWithTheLimitAndSentToNoNode() {
    LockManager locks = OnNodes.open(fixture);
    String tooLong = "n".repeat(1025);

    Counts.assertNoneBy(
        fixture,
        () -> {
          if (fixture.declares(LockCapability.INSPECTION)) {
            assertBadInput(() -> locks.inspect(""));
            assertBadInput(() -> locks.inspect(tooLong), "nnn", "1024");
          }
          if (fixture.declares(LockCapability.FORCE_RELEASE)) {
            assertBadInput(() -> locks.forceRelease(""));
            assertBadInput(() -> locks.forceRelease(tooLong), "nnn", "1024");
          }
          assertBadInput(() -> locks.tryAcquire("", fixture.ttl()));
        });
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that the message shows the ttl, the limit, and the option that sets it")
  void aTtlThatIsTooLongIsShownWithTheLimit() {
    LockManager locks = OnNodes.open(fixture, "maxTtl=45s");

    Counts.assertNoneBy(
        fixture,
        () -> {
          Throwable thrown =
              catchThrowable(() -> locks.tryAcquire(fixture.name("long"), Duration.ofSeconds(46)));
          if (thrown == null) {
            AnotherRule.isBroken("a ttl above maxTtl is not refused");
          }
          assertThat(thrown)
              .isInstanceOf(LockConfigurationException.class)
              .hasMessageContainingAll("46", "maxTtl", "45");
        });
  }

  @Test
  @Rule("ERR-4")
  @IfThisFails("check that the ttl of an extension is held to the limits of the first one")
  void anExtensionByAWrongTtlIsShownWithTheLimit() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Lease lease =
        OnNodes.take(fixture, fixture.open("maxTtl=45s"), fixture.name("extended"), fixture.ttl());

    Counts.assertNoneBy(
        fixture,
        () -> {
          assertBadInput(() -> lease.extend(Duration.ZERO), "ttl", "0");
          assertBadInput(() -> lease.extend(Duration.ofSeconds(-1)), "ttl", "-1");
          assertBadInput(() -> lease.extend(Duration.ofSeconds(46)), "46", "maxTtl", "45");
        });
  }

  @Test
  @Rule("ACQ-23")
  @IfThisFails("check that check() refuses what tryAcquire() refuses, and asks no node")
  void aCheckRefusesAsTryAcquireDoesAndIsSentToNoNode() {
    LockManager locks = OnNodes.open(fixture, "maxTtl=45s");
    LockRequest tooLong = LockRequest.of(fixture.name("long"), Duration.ofSeconds(46));
    if (!(catchThrowable(() -> locks.tryAcquire(tooLong)) instanceof LockConfigurationException)) {
      AnotherRule.isBroken("a ttl above maxTtl is not refused");
    }

    Counts.assertNoneBy(
        fixture,
        () -> {
          assertBadInput(() -> locks.check(tooLong), "46", "maxTtl", "45");
          assertThatCode(() -> locks.check(fixture.request(fixture.name("right"))))
              .doesNotThrowAnyException();
        });
  }

  private static void assertBadInput(ThrowingCallable call, String... parts) {
    Throwable thrown = catchThrowable(call);
    assertThat(thrown).isInstanceOf(LockConfigurationException.class);
    for (String part : parts) {
      assertThat(thrown).hasMessageContaining(part);
    }
  }
}
