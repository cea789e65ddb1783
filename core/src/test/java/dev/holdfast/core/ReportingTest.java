package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Reports to listeners. */
class ReportingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final LockOutageException outage = new LockOutageException("no quorum", Map.of(), false);
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();
  private final List<String> seen = new ArrayList<>();

  private void listen() {
    manager.addListener(new EventRecorder(seen));
  }

  @Test
  void aLeaseIsReportedWithItsTimes() throws Exception {
    listen();
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitForever());
    time.advance(Duration.ofMillis(10));
    backend.wipe("x");
    backend.publish("x");
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
    LockManager listened =
        ScriptedBackend.manager(backend, time).listener(new EventRecorder(seen)).build();

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
  void renewalEndedByAReleaseIsNotReported() throws Exception {
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
  void grantToAnAbandonedRequestHasNoEvents() {
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
    listen();
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
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
  void grantThatBecomesNoLeaseIsReportedAsReleased() {
    LockManager broken =
        ScriptedBackend.manager(backend, time).scheduler(new WithoutWatches()).build();
    broken.addListener(new EventRecorder(seen));

    assertThatThrownBy(() -> broken.tryAcquire(REQUEST)).hasMessage("no timer");

    assertThat(seen).containsExactly("x 1 granted 0ms 1 0", "x 1 released 0ms true");
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
  void lastReportedLoadIsTheCurrentLoad() throws Exception {
    List<String> loads = reportedLoads();
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST);
    manager.tryAcquireAsync(REQUEST.waitForever()).cancel(true);
    assertThat(loads).containsExactly("1/0", "1/1", "2/1", "1/1");

    backend.next().answer();
    assertThat(first.get().orElseThrow().release()).isTrue();

    assertThat(loads).endsWith("0/0");
  }

  @Test
  void closingReportsTheEventsGatheredSoFar() throws Exception {
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

  @Test
  @Rule("LISTEN-11")
  @DisplayName("a listener that is added under load learns of the load at once")
  void aListenerThatIsAddedUnderLoadLearnsOfIt() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> inFlight = manager.tryAcquireAsync(REQUEST);
    List<String> loads = reportedLoads();

    assertThat(inFlight).isNotDone();
    assertThat(loads).containsExactly("0/1");
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a listener that blocks does not keep a manager from closing")
  void aListenerThatBlocksDoesNotHoldUpClosing() throws Exception {
    LockManager closed =
        ScriptedBackend.manager(backend, time).scheduler(new OtherThreads()).build();
    CountDownLatch end = new CountDownLatch(1);
    closed.addListener(
        new LockListener() {
          @Override
          public void onVote(String node, Vote vote) {
            awaitEnd(end);
          }
        });
    assertThat(closed.tryAcquire(REQUEST)).isPresent();

    Background<Boolean> closing =
        Background.run(
            () -> {
              closed.close();
              return true;
            });

    assertThat(closing.result()).isTrue();
    end.countDown();
  }

  @Test
  @Rule("LISTEN-3")
  @DisplayName("a grant is reported before its first renewal begins, though that is due at once")
  void aGrantIsReportedBeforeARenewalThatIsDueAtOnce() throws Exception {
    LockManager renewing =
        ScriptedBackend.manager(backend, time).scheduler(new OtherThreads()).build();
    List<Thread> reporters = new ArrayList<>();
    renewing.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            reporters.add(Thread.currentThread());
          }
        });
    backend.beforeEachCall(
        () -> {
          time.passUnnoticed(TTL.dividedBy(2));
          backend.beforeEachCall(() -> {});
        });

    Lease lease = renewing.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));

    assertThat(lease).isNotNull();
    assertThat(backend.calls(Op.EXTEND)).hasSize(1);
    assertThat(reporters).containsExactly(Thread.currentThread());
  }

  private static void awaitEnd(CountDownLatch end) {
    try {
      assertThat(end.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Runs each task that is due at once on another thread, and waits for it. */
  private final class OtherThreads implements Scheduler {
    @Override
    public Task schedule(long delayNanos, Runnable task) {
      if (delayNanos > 0) {
        return time.schedule(delayNanos, task);
      }
      Thread other = new Thread(task, "other");
      other.start();
      try {
        other.join(10_000);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return () -> {};
    }

    @Override
    public void close() {}
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

  /** Returns the loads that are reported from now on, as waiting and in flight. */
  private List<String> reportedLoads() {
    List<String> loads = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onLoad(int waiting, int inFlight) {
            loads.add(waiting + "/" + inFlight);
          }
        });
    return loads;
  }
}
