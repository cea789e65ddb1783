package dev.holdfast.core;

import static dev.holdfast.core.CallersFrames.assertIsCopyOf;
import static dev.holdfast.core.CallersFrames.assertIsFromHere;
import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A request that no retry can correct fails at once, before the backend is asked. */
class RefusedRequestsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final LockConfigurationException wrongKey =
      new LockConfigurationException("the key 'x' holds a list");
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);

  @Test
  void ttlAboveTheMaximumIsRefusedWithoutAnAttempt() {
    assertRefused(manager(), LockRequest.of("x", Duration.ofSeconds(61)), "61s", "maxTtl");
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  @Rule("ACQ-23")
  @DisplayName("a check refuses the same requests as an attempt, without asking a node")
  void failedCheckRefusesARequestWithoutAnAttempt() {
    LockManager manager = manager();

    assertConfigurationError(
        () -> manager.check(LockRequest.of("x", Duration.ofSeconds(61))), "61s", "maxTtl");
    assertConfigurationError(() -> manager.check(LockRequest.of("reserved:x", TTL)), "reserved:x");
    manager.check(REQUEST);
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("the error for a ttl above maxTtl suggests keepAliveUpTo, not a larger maxTtl")
  void errorForATtlAboveTheMaximumSuggestsKeepAlive() {
    String advice = "ask for 30s and keepAliveUpTo(2h)";
    assertRefused(manager(), LockRequest.of("x", Duration.ofHours(2)), "2h", "60s", advice);
    assertRefused(
        ScriptedBackend.manager(backend, time).maxTtl(Duration.ofSeconds(10)).build(),
        LockRequest.of("x", Duration.ofMinutes(1)),
        "ask for 10s and keepAliveUpTo(60s)");
    backend.declare(Set.of());
    assertRefused(manager(), LockRequest.of("x", Duration.ofHours(2)), "or raise maxTtl");
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("a ttl that is no number of seconds is shown in milliseconds")
  void aTtlOfPartsOfSecondsIsShownInMilliseconds() {
    assertRefused(manager(), LockRequest.of("x", Duration.ofMillis(60_001)), "60001ms", "60s");
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl that the backend cannot use is refused without an attempt")
  void ttlThatTheBackendCannotUseIsRefusedWithoutAnAttempt() throws Exception {
    LockManager manager = manager();
    assertRefused(manager, LockRequest.of("x", ScriptedBackend.USELESS_TTL), "1 ns");
    assertThat(backend.calls()).isEmpty();
    Lease lease = manager.acquire(REQUEST);
    assertConfigurationError(() -> lease.extend(ScriptedBackend.USELESS_TTL), "1 ns");
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
  }

  @Test
  void reservedNameIsRefusedWithoutAnAttempt() {
    assertRefused(manager(), LockRequest.of("reserved:x", TTL), "reserved:x");
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  @Rule("CAP-2")
  @DisplayName("keepAlive without extension is refused without an attempt")
  void keepAliveWithoutExtensionIsRefusedWithoutAnAttempt() {
    backend.declare(Set.of());
    assertRefused(manager(), REQUEST.keepAliveUpTo(TTL), "keepAliveUpTo", "KEEP_ALIVE");
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void holdAtLeastWithoutTheCapabilityIsRefusedWithoutAnAttempt() {
    backend.declare(Set.of());
    assertRefused(manager(), REQUEST.holdAtLeast(TTL), "holdAtLeast", "HOLD_AT_LEAST");
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void extensionWithoutTheCapabilityIsRefusedWithoutAnAttempt() throws Exception {
    backend.declare(Set.of());
    Lease lease = manager().acquire(REQUEST);
    assertConfigurationError(() -> lease.extend(TTL), "extend", "EXTENSION");
    assertThat(failureOf(lease.extendAsync(TTL))).isInstanceOf(LockConfigurationException.class);
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void inspectionAndForcedReleaseNeedTheCapability() {
    backend.declare(Set.of());
    assertConfigurationError(() -> manager().inspect("x"), "INSPECTION");
    assertConfigurationError(() -> manager().forceRelease("x"), "FORCE_RELEASE");
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void namesAreHeldToTheSameLimitsForInspectionAndForcedRelease() {
    LockManager manager = manager();
    String tooLong = "ü".repeat(513);
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> manager.inspect("reserved:x"), () -> manager.forceRelease("reserved:x"))) {
      assertConfigurationError(call, "reserved:x");
    }
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(() -> manager.inspect(""), () -> manager.forceRelease(""))) {
      assertConfigurationError(call, "name", "empty");
    }
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> manager.inspect(tooLong), () -> manager.forceRelease(tooLong))) {
      assertConfigurationError(call, "1026", "1024");
    }
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  @SuppressWarnings("NullAway") // as callers without such a check do
  void nullNameIsRefusedWithoutAnAttempt() {
    LockManager manager = manager();
    assertThatThrownBy(() -> manager.inspect(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> manager.forceRelease(null)).isInstanceOf(NullPointerException.class);
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void coreAddsItsOwnCapabilities() {
    backend.declare(Set.of());
    assertThat(manager().capabilities()).containsExactly(LockCapability.FIFO_IN_PROCESS);
    backend.declare(Set.of(LockCapability.EXTENSION));
    assertThat(manager().capabilities())
        .containsExactlyInAnyOrder(
            LockCapability.FIFO_IN_PROCESS, LockCapability.EXTENSION, LockCapability.KEEP_ALIVE);
    assertThatThrownBy(() -> manager().capabilities().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void configurationErrorFailsAtOnceDespiteTheWait() {
    backend.failing(Op.ATTEMPT, wrongKey);
    LockManager manager = manager();
    assertThatThrownBy(() -> manager.acquire(REQUEST.waitForever()))
        .satisfies(thrown -> assertIsFromHere(thrown, wrongKey));
    assertIsCopyOf(wrongKey, failureOf(manager.tryAcquireAsync(REQUEST.waitForever())));
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(2);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void backendFaultFailsAtOnce() {
    IllegalStateException fault = new IllegalStateException("a fault of the backend's");
    backend.failing(Op.ATTEMPT, fault);
    assertThatThrownBy(() -> manager().acquire(REQUEST.waitForever())).isSameAs(fault);
  }

  @Test
  void exceptionThrownByTheBackendFailsTheRequest() {
    IllegalStateException fault = new IllegalStateException("thrown, not returned");
    LockManager manager = manager();
    backend.beforeEachCall(
        () -> {
          throw fault;
        });
    assertThatThrownBy(() -> manager.acquire(REQUEST.waitForever())).isSameAs(fault);
    backend.beforeEachCall(() -> {});
    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void eachWaiterBehindAFailedRequestMakesItsOwnAttempt() {
    backend.holdBack(Op.ATTEMPT);
    LockManager manager = manager();
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      waiting.add(manager.tryAcquireAsync(REQUEST.waitForever()));
    }
    backend.failing(Op.ATTEMPT, wrongKey);
    backend.next().fail(wrongKey);

    assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(10_000);
  }

  @Test
  void managersWithZeroDurationsAreRefused() {
    for (Duration none : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
      assertConfigurationError(
          () -> ScriptedBackend.manager(backend, time).retryDelay(none).build(), "retryDelay");
      assertConfigurationError(
          () -> ScriptedBackend.manager(backend, time).maxTtl(none).build(), "maxTtl");
    }
  }

  @Test
  void theLongestTtlOfAManagerIsAYear() {
    ScriptedBackend.manager(backend, time).maxTtl(Duration.ofDays(365)).build().close();
    assertConfigurationError(
        () ->
            ScriptedBackend.manager(backend, time)
                .maxTtl(Duration.ofDays(365).plusNanos(1))
                .build(),
        "maxTtl",
        "365 days");
  }

  @Test
  void aManagersOwnerIsHeldToTheLimitsOfRequests() {
    ScriptedBackend.manager(backend, time).ownerLabel("o".repeat(256)).build().close();
    assertConfigurationError(
        () -> ScriptedBackend.manager(backend, time).ownerLabel("o".repeat(257)).build(),
        "owner",
        "257",
        "256");
    assertConfigurationError(
        () -> ScriptedBackend.manager(backend, time).ownerLabel("").build(), "owner", "empty");
  }

  private LockManager manager() {
    return ScriptedBackend.manager(backend, time).build();
  }

  private static void assertRefused(LockManager manager, LockRequest request, String... parts) {
    assertConfigurationError(() -> manager.tryAcquire(request), parts);
    assertConfigurationError(() -> manager.acquire(request), parts);
    assertThat(failureOf(manager.tryAcquireAsync(request)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(parts[0]);
  }

  private static void assertConfigurationError(ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(LockConfigurationException.class)
        .message()
        .contains(parts);
  }
}
