package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The listeners of a manager: added and removed, and what they must not do. */
class ListenersTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  /** Readings of the clock by an acquire and its release, as before there were listeners. */
  private static final int READINGS = 7;

  /** How often the lease and the scripted backend read the clock for a transfer. */
  private static final int READINGS_OF_TRANSFER = 4;

  /** How often the lease and the scripted backend read the clock for an adoption. */
  private static final int READINGS_OF_ADOPTION = 4;

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();
  private final List<String> seen = new ArrayList<>();

  private void listen() {
    manager.addListener(new EventRecorder(seen));
  }

  @Test
  void listenerSeesOnlyRequestsAfterItsRegistration() throws Exception {
    Lease before = manager.acquire(REQUEST);
    listen();
    assertThat(before.release()).isTrue();
    assertThat(seen).isEmpty();

    assertThat(manager.acquire(REQUEST).release()).isTrue();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
  }

  @Test
  @Rule("LISTEN-15")
  @DisplayName("a second listener sees no earlier lease")
  void secondListenerSeesNoEarlierLease() throws Exception {
    manager.addListener(new LockListener() {});
    Lease before = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waits = manager.tryAcquireAsync(REQUEST.waitForever());
    listen();

    waits.cancel(true);
    assertThat(before.release()).isTrue();

    assertThat(seen).isEmpty();
  }

  @Test
  void listenersMayBeAddedAndRemovedInsideACall() throws Exception {
    List<LockListener.Registration> registrations = new ArrayList<>();
    registrations.add(
        manager.addListener(
            new LockListener() {
              @Override
              public void onGranted(String name, long leaseId, long waited, int votes, int m) {
                registrations.get(0).close();
                listen();
              }
            }));

    assertThat(manager.acquire(REQUEST).release()).isTrue();
    assertThat(manager.acquire(REQUEST).release()).isTrue();

    assertThat(seen).containsExactly("x 2 granted 0ms 1 0", "x 2 released 0ms true");
  }

  @Test
  @Rule("LISTEN-11")
  @DisplayName("a listener that adds a listener in each report of the load does not go on forever")
  void aListenerMayAddAnotherInEachReportOfTheLoad() throws Exception {
    List<LockListener> added = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onLoad(int waiting, int inFlight) {
            assertThat(added).hasSizeLessThan(100);
            added.add(this);
            manager.addListener(this);
          }
        });

    assertThat(manager.acquire(REQUEST).release()).isTrue();

    assertThat(added).hasSizeBetween(2, 99);
  }

  @Test
  @Rule("LISTEN-5")
  @DisplayName("each call that blocks is refused inside a listener, and not afterwards")
  void aCallThatBlocksIsRefusedInsideAndAllowedAfterwards() throws Exception {
    Lease held = manager.acquire("held", TTL);
    String text = manager.acquire("given", TTL).transfer(TTL);
    LockRequest given = LockRequest.of("given", TTL);
    Map<String, ThrowingCallable> blocking =
        Map.ofEntries(
            Map.entry("tryAcquire", () -> manager.tryAcquire(REQUEST)),
            Map.entry("acquire", () -> manager.acquire(REQUEST)),
            Map.entry("executeLocked", () -> manager.executeLocked(REQUEST, lease -> "done")),
            Map.entry("adopt", () -> manager.adopt(text, given)),
            Map.entry("inspect", () -> manager.inspect("held")),
            Map.entry("forceRelease", () -> manager.forceRelease("held")),
            Map.entry("ping", () -> manager.ping(TTL)),
            Map.entry("extend", () -> held.extend(TTL)),
            Map.entry("transfer", () -> held.transfer(TTL)),
            Map.entry("release", held::release),
            Map.entry("Lease.close", held::close),
            Map.entry("close", manager::close));
    Map<String, Throwable> refused = new HashMap<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            blocking.forEach((call, code) -> refused.put(call, catchThrowable(code)));
          }
        });

    Lease lease = manager.acquire(REQUEST);

    assertThat(refused).containsOnlyKeys(blocking.keySet());
    assertThat(refused)
        .allSatisfy(
            (call, refusal) ->
                assertThat(refusal)
                    .as(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("return at once"));
    assertThat(held.release()).isTrue();
    assertThat(lease.release()).isTrue();
    manager.close();
  }

  @Test
  void listenerThatWaitsForClosingIsNotDeadlocked() throws Exception {
    List<Boolean> closed = new ArrayList<>();
    listen();
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            closed.add(isClosedByAnotherThread());
          }
        });

    assertThatThrownBy(() -> manager.acquire(REQUEST)).isInstanceOf(IllegalStateException.class);

    assertThat(closed).containsExactly(true);
    assertThat(manager.leases()).isEmpty();
    assertThat(seen).hasSize(2);
    assertThat(seen.get(0)).isEqualTo("x 1 granted 0ms 1 0");
    assertThat(seen.get(1)).startsWith("x 1 lost CLOSED");
  }

  /** Closes the manager on another thread. Time passes until closing gives up what it waits for. */
  private boolean isClosedByAnotherThread() {
    Background<Boolean> closing = Background.closing(manager);
    try {
      closing.awaitBlocked();
      time.advance(TTL.minusSeconds(1));
      return closing.result();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aListenerAndALoggerThatThrowChangeNothing() throws Exception {
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            throw new AssertionError("a test's");
          }
        });
    listen();
    try (Warnings warnings = Warnings.throwing(LockListener.class)) {
      assertThat(manager.acquire(REQUEST).release()).isTrue();
      assertThat(manager.acquire(REQUEST).release()).isTrue();
      assertThat(warnings.texts()).hasSize(1);
    }
    assertThat(seen).hasSize(4);
  }

  @Test
  @Rule("LISTEN-13")
  @DisplayName("without a listener no event is created for a request and its lease")
  void noEventIsCreatedWithoutAListener() {
    ManagerContext context = ScriptedBackend.context(backend, time, time);
    WaitLimit wait = WaitLimit.startingNow(time, 0);

    CompletableFuture<Optional<Lease>> result = ReportedResult.of(context, "x", wait);

    assertThat(result.getClass()).isEqualTo(CompletableFuture.class);
    assertThat(ReportedResult.lease(result)).isSameAs(LeaseReport.NONE);
    context.listeners().add(new LockListener() {});
    assertThat(ReportedResult.of(context, "x", wait)).isInstanceOf(ReportedResult.class);
  }

  @Test
  @Rule("LISTEN-13")
  @DisplayName("without a listener no clock is read for one")
  void withoutAListenerNoClockIsReadForOne() throws Exception {
    CountingClock without = new CountingClock();
    useOnce(without, ScriptedBackend.manager(backend, time).clock(without).build(), false);
    CountingClock with = new CountingClock();
    useOnce(with, ScriptedBackend.manager(backend, time).clock(with).build(), true);

    assertThat(without.readings).as("before there were listeners").isEqualTo(READINGS);
    assertThat(with.readings).isGreaterThan(READINGS);
  }

  @Test
  @Rule("LISTEN-13")
  @DisplayName("without a listener a transfer and an adoption read no clock for one")
  void withoutAListenerAnAdoptionReadsNoClockForOne() throws Exception {
    CountingClock clock = new CountingClock();
    LockManager locks = ScriptedBackend.manager(backend, time).clock(clock).build();
    Lease lease = locks.acquire(REQUEST);

    clock.readings = 0;
    String text = lease.transfer(TTL);
    assertThat(clock.readings).as("transfer").isEqualTo(READINGS_OF_TRANSFER);

    clock.readings = 0;
    Lease adopted = locks.adopt(text, REQUEST);
    assertThat(clock.readings).as("adopt").isEqualTo(READINGS_OF_ADOPTION);
    assertThat(adopted.isHeld()).isTrue();
  }

  private static void useOnce(CountingClock clock, LockManager locks, boolean listens)
      throws Exception {
    assertThat(locks.acquire(REQUEST).release()).isTrue(); // the state of the only node is known
    if (listens) {
      locks.addListener(new LockListener() {});
    }
    clock.readings = 0;
    assertThat(locks.acquire(REQUEST).release()).isTrue();
  }

  /** Counts its readings. */
  private final class CountingClock implements Clock {
    private int readings;

    @Override
    public long nanos() {
      readings++;
      return time.nanos();
    }

    @Override
    public long wallMicros() {
      return time.wallMicros();
    }
  }
}
