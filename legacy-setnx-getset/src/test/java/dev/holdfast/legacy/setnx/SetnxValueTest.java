package dev.holdfast.legacy.setnx;

import static dev.holdfast.legacy.setnx.Fleet.KEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The value of the key is no stamp, or too short for a stamp. */
class SetnxValueTest {
  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          locked        | is no time stamp
          1             | is a number, but no time from 2001 to 2286
          1800000099123 | is a time in milliseconds, but unit=s is set: if all clients write it so, set unit=ms
          1800000099.5  | has a fraction, but number=integer is set: if all clients write it so, set number=float
          """)
  void valueThatIsNoStampIsAnErrorAndIsLeftUnchanged(String value, String what) {
    fleet.say("SET", KEY, value);
    LockManager locks = fleet.manager(clock);

    assertThatThrownBy(() -> locks.acquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the key 'lock.orders' on "
                + NODE.address()
                + " holds '"
                + value
                + "', which "
                + what
                + "; else use another name or keyPrefix, or remove the key");
    assertThat(fleet.say("GET", KEY)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"locked", "1800000099123"})
  void anExtensionLeavesWhatIsNoStampAsItIs(String value) {
    LockManager locks = fleet.manager(clock);
    SetnxGrant grant = Fleet.granted(locks);
    fleet.say("SET", KEY, value);

    assertThat(Fleet.extended(locks, grant))
        .failsWithin(5, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockConfigurationException.class);
    assertThat(fleet.say("GET", KEY)).isEqualTo(value);
  }

  @Test
  void longValueIsShownShortenedAndPrintable() {
    fleet.say("SET", KEY, "\u0007" + "x".repeat(5_000));

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(" holds '\uFFFD" + "x".repeat(39) + "…', which is no time stamp;");
  }

  @Test
  @Rule("ACQ-9")
  @DisplayName("a key of another type is an error that names key and node")
  void aKeyOfAnotherTypeIsAnErrorAndIsLeftAsItIs() {
    fleet.say("RPUSH", KEY, "no", "lock");

    assertThatThrownBy(() -> fleet.manager(clock).tryAcquire("orders", Fleet.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the key 'lock.orders' holds no string, so no lock, on "
                + NODE.address()
                + ": use another name or keyPrefix, or remove the key");
    assertThat(fleet.say("LLEN", KEY)).isEqualTo(2L);
  }

  @Test
  void aStampDoesNotSayWhoHolds() {
    LockPrimitive primitive = Fleet.primitive(fleet.manager(clock));

    CompletableFuture<Optional<LockStatus>> inspected = primitive.inspect("orders");

    assertThat(inspected).isCompletedExceptionally();
    assertThat(primitive.forceRelease("orders")).isCompletedExceptionally();
    assertThat(primitive.capabilities()).isEmpty();
  }
}
