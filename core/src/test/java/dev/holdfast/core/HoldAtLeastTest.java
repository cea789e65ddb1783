package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

class HoldAtLeastTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);
  private static final Duration LONG = Duration.ofMinutes(14);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void aHoldAboveTheTtlIsKeptByTheRelease() throws Exception {
    Lease lease = manager.acquire(REQUEST.holdAtLeast(LONG));
    assertThat(backend.calls(Op.ATTEMPT)).extracting(Call::time).containsExactly(TTL);
    time.advance(Duration.ofSeconds(10));

    assertThat(lease.release()).isTrue();

    time.advance(LONG.minusSeconds(11));
    assertThat(backend.holder("x")).isPresent();
    time.advance(Duration.ofSeconds(1));
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void aLeaseThatIsNotReleasedEndsWithItsTtl() throws Exception {
    Lease lease = manager.acquire(REQUEST.holdAtLeast(LONG));
    time.advance(TTL);

    assertThat(lease.isHeld()).isFalse();
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void aLeaseThatIsLostBeforeItsKeysExpireDoesNotLengthenThem() throws Exception {
    Lease lease = manager.acquire(REQUEST.holdAtLeast(LONG));
    time.passUnnoticed(Duration.ofSeconds(5));
    time.moveWall(TTL);
    assertThat(lease.isHeld()).isFalse();
    time.advance(Duration.ZERO);

    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
    assertThat(backend.holder("x")).isPresent();
    time.passUnnoticed(TTL.minusSeconds(5));
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void aNewMinimumCountsFromTheCallAndMayBeShorterOrLonger() throws Exception {
    Lease shorter = manager.acquire(REQUEST.holdAtLeast(LONG));
    time.advance(Duration.ofSeconds(5));
    shorter.holdAtLeast(Duration.ofSeconds(2));
    assertThat(shorter.release()).isTrue();
    time.advance(Duration.ofSeconds(2));

    Lease longer = manager.acquire(REQUEST);
    time.advance(Duration.ofSeconds(5));
    longer.holdAtLeast(LONG);
    time.advance(Duration.ofSeconds(3));
    assertThat(longer.release()).isTrue();
    time.advance(LONG);

    Lease none = manager.acquire(REQUEST.holdAtLeast(LONG));
    none.holdAtLeast(Duration.ZERO);
    assertThat(none.release()).isTrue();
    assertThat(backend.calls(Op.RELEASE))
        .extracting(Call::time)
        .containsExactly(Duration.ofSeconds(2), LONG.minusSeconds(3), Duration.ZERO);
  }

  @Test
  void anExtensionKeepsTheMinimum() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    lease.holdAtLeast(LONG);
    lease.extend(TTL);
    assertThat(lease.release()).isTrue();

    assertThat(backend.calls(Op.RELEASE)).extracting(Call::time).containsExactly(LONG);
  }

  @Test
  void theLongestMinimumIsADay() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    lease.holdAtLeast(Duration.ofHours(24));

    assertThatThrownBy(() -> lease.holdAtLeast(Duration.ofDays(365)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "holdAtLeast is PT8760H: give at most 24 hours, and use a scheduler for rarer jobs");
    assertThatThrownBy(() -> lease.holdAtLeast(Duration.ofNanos(-1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("give zero or more");
    assertThat(lease.release()).isTrue();
    assertThat(backend.calls(Op.RELEASE))
        .extracting(Call::time)
        .containsExactly(Duration.ofHours(24));
  }

  @Test
  void aLeaseThatIsOverTakesNoMinimum() throws Exception {
    Lease released = manager.acquire(REQUEST);
    assertThat(released.release()).isTrue();
    assertThatThrownBy(() -> released.holdAtLeast(LONG)).isInstanceOf(IllegalStateException.class);

    Lease lost = manager.acquire(REQUEST);
    time.advance(TTL);
    assertThatThrownBy(() -> lost.holdAtLeast(LONG)).isInstanceOf(LockLostException.class);
  }

  @Test
  void aBackendWithoutTheCapabilityRefusesIt() throws Exception {
    backend.declare(EnumSet.of(LockCapability.EXTENSION));
    LockManager without = ScriptedBackend.manager(backend, time).build();
    Lease lease = without.acquire(REQUEST);

    assertThatThrownBy(() -> lease.holdAtLeast(LONG))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("HOLD_AT_LEAST");
    assertThat(lease.isHeld()).isTrue();
  }
}
