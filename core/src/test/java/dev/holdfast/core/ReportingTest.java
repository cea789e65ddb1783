package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
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

/** Reports to listeners. */
class ReportingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  /** How often a lock and its release read the clock before there were listeners. */
  private static final int READINGS = 8;

  private final LockOutageException outage = new LockOutageException("no quorum", Map.of(), false);
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();
  private final List<String> seen = new ArrayList<>();

  /** Writes down what concerns requests and leases, with times in milliseconds. */
  private class Recorder implements LockListener {
    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      seen.add("%s %d granted %s %d %d".formatted(name, leaseId, ms(waited), votes, margin));
    }

    @Override
    public void onNotGranted(String name, Failure failure, long waited) {
      seen.add("%s %s %s".formatted(name, failure, ms(waited)));
    }

    @Override
    public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
      seen.add("%s %d renewal %s %s".formatted(name, leaseId, outcome, ms(took)));
    }

    @Override
    public void onReleased(String name, long leaseId, long held, boolean confirmed) {
      seen.add("%s %d released %s %s".formatted(name, leaseId, ms(held), confirmed));
    }

    @Override
    public void onTransferred(String name, long leaseId, long held) {
      seen.add("%s %d transferred %s".formatted(name, leaseId, ms(held)));
    }

    @Override
    public void onLost(String name, long leaseId, LossReason reason, long held) {
      seen.add("%s %d lost %s %s".formatted(name, leaseId, reason, ms(held)));
    }

    @Override
    public void onOverrun(String name, long leaseId, long overrun) {
      seen.add("%s %d overrun %s".formatted(name, leaseId, ms(overrun)));
    }

    private String ms(long nanos) {
      return nanos / 1_000_000 + "ms";
    }
  }

  private void listen() {
    manager.addListener(new Recorder());
  }

  @Test
  void aLeaseIsReportedWithItsTimes() throws Exception {
    listen();
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitForever());
    time.advance(Duration.ofMillis(10));
    backend.wipe("x");
    backend.tell("x");
    time.advance(Duration.ofMillis(10));
    Lease lease = waiting.get().orElseThrow();
    time.advance(Duration.ofMillis(70));

    assertThat(lease.release()).isTrue();

    assertThat(seen).hasSize(2);
    assertThat(seen.get(0)).startsWith("x 1 granted 1").endsWith("ms 1 0");
    assertThat(seen.get(1)).matches("x 1 released (7|8)\\dms true");
  }

  @Test
  @Rule("LISTEN-14")
  @DisplayName("a listener of the builder is there before the first request")
  void aListenerOfTheBuilderLearnsOfTheFirstRequest() throws Exception {
    LockManager listened = ScriptedBackend.manager(backend, time).listener(new Recorder()).build();

    assertThat(listened.acquire(REQUEST).release()).isTrue();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
  }

  @Test
  void aReleaseIsReportedOnceItIsAnswered() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> released = lease.releaseAsync();
    time.advance(Duration.ofMillis(30));
    assertThat(seen).containsExactly("x 1 granted 0ms 1 0");

    released.thenRun(() -> seen.add("answered"));
    backend.next().answer();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true", "answered");
  }

  @Test
  @Rule("LISTEN-2")
  @DisplayName("a transfer is the end of its lease, and its adoption is another grant")
  void aTransferIsReportedWithTheTimeUntilIt() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.EXTEND, outage);
    assertThatThrownBy(() -> lease.transfer(TTL)).isInstanceOf(LockOutageException.class);
    backend.healed();
    time.advance(Duration.ofMillis(70));

    String text = lease.transfer(TTL);
    time.advance(Duration.ofMillis(20));
    assertThat(lease.release()).isTrue();
    lease.close();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 transferred 70ms");
    assertThat(manager.adopt(text, REQUEST).release()).isTrue();
    assertThat(seen.subList(2, seen.size()))
        .containsExactly("x 2 granted 0ms 1 0", "x 2 released 0ms true");
  }

  @Test
  void aReleaseInAnOutageIsUnconfirmed() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.RELEASE, outage);

    assertThatThrownBy(lease::release).isInstanceOf(LockOutageException.class);

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms false");
  }

  @Test
  void aLossThatTheReleaseFindsIsALossAndNoOverrun() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    backend.wipe("x");

    assertThat(lease.release()).isFalse();
    assertThat(lease.release()).isFalse();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 lost REMOVED 0ms");
  }

  @Test
  void aLossIsReportedOnceItsKeysAreReleased() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    time.advance(TTL);
    assertThat(lease.isHeld()).isFalse();
    assertThat(seen).hasSize(1);

    backend.next().answer();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 lost EXPIRED 30000ms");
  }

  @Test
  void workAfterALossIsAnOverrun() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST);
    time.advance(TTL.plusMillis(5));

    lease.close();
    assertThat(lease.release()).isFalse();

    assertThat(seen)
        .containsExactly("x 1 granted 0ms 1 0", "x 1 lost EXPIRED 30000ms", "x 1 overrun 5ms");
  }

  @Test
  void renewalsAreReportedAndTheEndIsLast() throws Exception {
    listen();
    manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    time.advance(Duration.ofSeconds(10));
    backend.failing(Op.EXTEND, outage);
    time.advance(Duration.ofSeconds(10));
    backend.healed();
    backend.wipe("x");
    time.advance(Duration.ofSeconds(1));

    assertThat(seen).startsWith("x 1 granted 0ms 1 0", "x 1 renewal EXTENDED 0ms");
    assertThat(seen).contains("x 1 renewal OUTAGE 0ms", "x 1 renewal LOST 0ms");
    assertThat(seen.get(seen.size() - 1)).startsWith("x 1 lost REMOVED");
    assertThat(seen.stream().filter(text -> text.contains("LOST"))).hasSize(1);
  }

  @Test
  void aRenewalThatAReleaseCutsShortIsNotReported() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    backend.holdBack(Op.EXTEND);
    time.advance(Duration.ofSeconds(10));

    assertThat(lease.release()).isTrue();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 10000ms true");
  }

  @Test
  void aRenewalInFlightIsLostWithItsLease() throws Exception {
    listen();
    manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    backend.holdBack(Op.EXTEND);
    time.advance(TTL);

    assertThat(seen)
        .containsExactly(
            "x 1 granted 0ms 1 0", "x 1 renewal LOST 20000ms", "x 1 lost UNREACHABLE 30000ms");
  }

  @Test
  @Rule("LISTEN-7")
  @DisplayName("a renewal that a loss cut short is reported, though the holder closes")
  void aRenewalInFlightIsLostThoughItsHolderClosesAtOnce() throws Exception {
    listen();
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    backend.holdBack(Op.EXTEND);
    time.advance(TTL.dividedBy(3));
    time.passUnnoticed(TTL.dividedBy(3).multipliedBy(2).plusMillis(5));
    time.holdForks();
    lease.close();
    time.runForks();

    assertThat(seen)
        .containsExactly("x 1 granted 0ms 1 0", "x 1 overrun 5ms", "x 1 renewal LOST 20005ms");
  }

  @Test
  void eachRequestHasOneResult() throws Exception {
    listen();
    backend.giveToAnother("x", TTL);
    assertThat(manager.tryAcquire(REQUEST)).isEmpty();
    backend.failing(Op.ATTEMPT, outage);
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).isInstanceOf(LockOutageException.class);
    backend.failing(Op.ATTEMPT, new IllegalArgumentException("a bug"));
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).hasMessage("a bug");
    backend.healed();
    assertThatThrownBy(() -> manager.tryAcquire("x", Duration.ofDays(400)))
        .isInstanceOf(LockConfigurationException.class);
    manager.tryAcquireAsync(REQUEST.waitForever()).cancel(true);
    CompletableFuture<Optional<Lease>> closed = manager.tryAcquireAsync(REQUEST.waitForever());
    manager.close();
    assertThat(closed).isCompletedExceptionally();
    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedExceptionally();

    assertThat(seen)
        .containsExactly(
            "x CONTENDED 0ms",
            "x OUTAGE 0ms",
            "x ERROR 0ms",
            "x CONFIGURATION 0ms",
            "x INTERRUPTED 0ms",
            "x CLOSED 0ms",
            "x CLOSED 0ms");
  }

  @Test
  @Rule("LISTEN-1")
  @DisplayName("an adoption has one result, too, also if it is refused before any I/O")
  void eachAdoptionHasOneResult() throws Exception {
    String text = manager.acquire(REQUEST).transfer(TTL);
    listen();
    LockRequest tooLong = LockRequest.of("x", Duration.ofDays(400));
    assertThatThrownBy(() -> manager.adopt(text, tooLong))
        .isInstanceOf(LockConfigurationException.class);
    assertThatThrownBy(() -> manager.adopt("damaged", REQUEST))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(manager.adoptAsync(text, tooLong)).isCompletedExceptionally();
    assertThat(manager.adopt(text, REQUEST).release()).isTrue();
    assertThatThrownBy(() -> manager.adopt(text, REQUEST)).isInstanceOf(LockLostException.class);
    manager.close();
    assertThatThrownBy(() -> manager.adopt(text, REQUEST))
        .isInstanceOf(IllegalStateException.class);

    assertThat(seen)
        .containsExactly(
            "x CONFIGURATION 0ms",
            "x CONFIGURATION 0ms",
            "x CONFIGURATION 0ms",
            "x 1 granted 0ms 1 0",
            "x 1 released 0ms true",
            "x CONTENDED 0ms",
            "x CLOSED 0ms");
  }

  @Test
  void aGrantToARequestThatWasGivenUpHasNoEvents() {
    listen();
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST).cancel(true);

    backend.next().answer();

    assertThat(backend.holder("x")).isEmpty();
    assertThat(seen).containsExactly("x INTERRUPTED 0ms");
  }

  @Test
  void aLeaseThatIsGrantedWhileItsListenerCancelsEndsAsReleased() {
    List<CompletableFuture<?>> requests = new ArrayList<>();
    manager.addListener(
        new Recorder() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            super.onGranted(name, leaseId, waited, votes, margin);
            requests.forEach(request -> request.cancel(true));
          }
        });
    backend.holdBack(Op.ATTEMPT);
    requests.add(manager.tryAcquireAsync(REQUEST));

    backend.next().answer();

    assertThat(backend.holder("x")).isEmpty();
    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
  }

  @Test
  void aGrantThatCannotBeTakenInEndsAsReleased() {
    LockManager broken =
        ScriptedBackend.manager(backend, time).scheduler(new WithoutWatches()).build();
    broken.addListener(new Recorder());

    assertThatThrownBy(() -> broken.tryAcquire(REQUEST)).hasMessage("no timer");

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
  }

  @Test
  void aListenerThatIsAddedLaterLearnsOfLaterRequestsAlone() throws Exception {
    Lease before = manager.acquire(REQUEST);
    listen();
    assertThat(before.release()).isTrue();
    assertThat(seen).isEmpty();

    assertThat(manager.acquire(REQUEST).release()).isTrue();

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
  }

  @Test
  @Rule("LISTEN-15")
  @DisplayName("a listener that is added beside another learns of no earlier lease")
  void aListenerThatIsAddedBesideAnotherLearnsOfNoEarlierLease() throws Exception {
    manager.addListener(new LockListener() {});
    Lease before = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waits = manager.tryAcquireAsync(REQUEST.waitForever());
    listen();

    waits.cancel(true);
    assertThat(before.release()).isTrue();

    assertThat(seen).isEmpty();
  }

  @Test
  @Rule("LISTEN-3")
  @DisplayName("the manager shows a lease whose grant is reported")
  void theManagerShowsALeaseWhoseGrantIsReported() throws Exception {
    List<Integer> shown = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            shown.add(manager.leases().size());
          }
        });

    manager.acquire(REQUEST).close();

    assertThat(shown).containsExactly(1);
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
  void aListenerThatWaitsForAnotherThreadToCloseTheManagerWaitsInBounds() throws Exception {
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
    Background<Boolean> closing =
        Background.run(
            () -> {
              manager.close();
              return true;
            });
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
  void theLastLoadIsThePresentOne() throws Exception {
    List<String> loads = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onLoad(int waiting, int inFlight) {
            loads.add(waiting + "/" + inFlight);
          }
        });
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST);
    manager.tryAcquireAsync(REQUEST.waitForever()).cancel(true);
    assertThat(loads).containsExactly("1/0", "1/1", "2/1", "1/1");

    backend.next().answer();
    assertThat(first.get().orElseThrow().release()).isTrue();

    assertThat(loads).endsWith("0/0");
  }

  @Test
  @Rule("LISTEN-13")
  @DisplayName("without a listener a request and its lease have nothing for one")
  void withoutAListenerNothingIsMadeForOne() {
    ManagerContext context = contextWith(new Listeners(time));
    WaitLimit wait = WaitLimit.startingNow(time, 0);

    CompletableFuture<Optional<Lease>> result = ReportedResult.of(context, "x", wait);

    assertThat(result.getClass()).isEqualTo(CompletableFuture.class);
    assertThat(ReportedResult.lease(result)).isSameAs(LeaseReport.NONE);
    context.listeners().add(new LockListener() {});
    assertThat(ReportedResult.of(context, "x", wait)).isInstanceOf(ReportedResult.class);
  }

  private ManagerContext contextWith(Listeners listeners) {
    return new ManagerContext(
        backend,
        backend.capabilities(),
        time,
        time,
        () -> 0,
        Runnable::run,
        1,
        TTL,
        "tester",
        new InFlightOperations(),
        new ConcurrencyLimiter(time, listeners),
        new UnconfirmedReleases(time),
        listeners,
        new NodeEvents(listeners, time),
        null);
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

  private static void useOnce(CountingClock clock, LockManager locks, boolean listens)
      throws Exception {
    assertThat(locks.acquire(REQUEST).release()).isTrue(); // the state of the only node is known
    if (listens) {
      locks.addListener(new LockListener() {});
    }
    clock.readings = 0;
    assertThat(locks.acquire(REQUEST).release()).isTrue();
  }

  @Test
  void aManagerThatIsClosedReportsWhatItHasGathered() throws Exception {
    List<String> votes = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onVote(String node, Vote vote) {
            votes.add(node + " " + vote);
          }
        });
    assertThat(manager.tryAcquire(REQUEST)).isPresent();

    manager.close();

    assertThat(votes).containsExactly("backend GRANTED");
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

  /** Watches nothing. */
  private final class WithoutWatches implements Scheduler {
    @Override
    public Task schedule(long delayNanos, Runnable task) {
      return time.schedule(delayNanos, task);
    }

    @Override
    public Task watch(long delayNanos, Runnable task) {
      throw new IllegalStateException("no timer");
    }

    @Override
    public void fork(Runnable task) {
      task.run();
    }

    @Override
    public void close() {}
  }
}
