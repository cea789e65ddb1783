package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Calls of listeners beside other threads, on adoptions, and soon after they were added. */
public abstract class ListenerCallRules {
  private static final long PATIENCE_SECONDS = 5;

  /** More than a circuit breaker suffers. */
  private static final int MANY_FAILURES = 25;

  final TckFixture fixture;

  public ListenerCallRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("LISTEN-16")
  @IfThisFails("check that listeners are called under no lock that calls of the manager need")
  void otherThreadsUseTheManagerDuringACallOfAListener() {
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.openForShortTtl();
          Lease held = fixture.take(locks, fixture.name("held"), fixture.ttl());
          Asking asking = new Asking(locks, held);
          locks.addListener(asking);
          String released = fixture.name("released");
          String expired = fixture.name("expired");

          TckFixture.regardless(fixture.take(locks, released, fixture.ttl())::release);
          fixture.awaitOver(fixture.take(locks, expired, fixture.briefTtl()));

          fixture.awaitRegardless("its end was reported", () -> asking.calls.contains("lost"));
          assertThat(asking.calls).contains("granted", "released", "lost");
          assertThat(asking.stuck).as("calls during which other threads had to wait").isEmpty();
        });
  }

  @Test
  @Rule("LISTEN-4")
  @IfThisFails("check that a listener is called on, however often it has thrown")
  void aListenerThatThrowsIsCalledEachTime() {
    LockManager locks = fixture.open();
    AtomicInteger calls = new AtomicInteger();
    locks.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            throw new IllegalStateException("call " + calls.incrementAndGet());
          }
        });

    for (int i = 1; i <= MANY_FAILURES; i++) {
      TckFixture.regardless(fixture.take(locks, fixture.name("thrown"), fixture.ttl())::release);
    }

    assertThat(calls).as("calls of a listener that throws").hasValue(MANY_FAILURES);
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that the manager refers to its listeners until they are removed")
  void aListenerThatIsReferredToByNothingElseIsCalledOn() {
    LockManager locks = fixture.open();
    AtomicInteger calls = new AtomicInteger();
    locks.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            calls.incrementAndGet();
          }
        });
    long before = Garbage.collections();
    fixture
        .soon()
        .until(
            "garbage is collected",
            () -> {
              Garbage.collect();
              return Garbage.collections() - before >= 2;
            });

    fixture.take(locks, fixture.name("reported"), fixture.ttl());

    assertThat(calls).as("calls after a collection of garbage").hasValue(1);
  }

  @Test
  @Rule("LISTEN-3")
  @IfThisFails("check that a renewal is reported by the thread that made it, and at once")
  void noRenewalIsReportedAfterTheEnd() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    EventLog log = new EventLog();
    locks.addListener(log);
    Retries.anyOf(
        () -> {
          Duration ttl = fixture.shortTtl();
          LockRequest request =
              LockRequest.of(fixture.name("renewed"), ttl).keepAliveUpTo(Duration.ofHours(1));
          Lease lease = fixture.take(locks, request);
          AtomicReference<Duration> before = new AtomicReference<>(lease.remaining());
          fixture
              .soon()
              .until(
                  "it is renewed",
                  () -> {
                    Duration now = lease.remaining();
                    return now.compareTo(before.getAndSet(now)) > 0;
                  });
          lease.release();

          Attempts.stays(() -> true); // time for a report that comes late
          assertThat(log.about(request.name())).as("reported, in this order").endsWith("released");
        });
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that an adoption is reported as a request is, by each way to adopt")
  void theResultsOfAdoptionsAreReported() {
    Needs.of(fixture, LockCapability.TRANSFER);
    for (Adopting way : Adopting.values()) {
      LockManager locks = fixture.open();
      EventLog log = new EventLog();
      locks.addListener(log);
      String name = fixture.name("adopted");
      String text =
          TransferredLock.text(
              fixture, fixture.take(fixture.open(), name, fixture.ttl()), fixture.ttl());
      LockRequest request = fixture.request(name);

      Throwable first = catchThrowable(() -> way.adopt(fixture, locks, text, request));
      Throwable second = catchThrowable(() -> way.adopt(fixture, locks, text, request));

      if (first != null || second == null) {
        AnotherRule.isBroken("the first adoption gets no lock, or the second one gets it");
      }
      fixture
          .soon()
          .untilAsserted(
              () ->
                  assertThat(log.about(name))
                      .as("of an adoption, and of one that came too late")
                      .containsExactly("granted", "not granted CONTENDED"));
    }
  }

  @Test
  @Rule("LISTEN-11")
  @IfThisFails("check that a listener that is added later learns of the requests that wait")
  void aListenerThatIsAddedLaterLearnsOfTheLoad() {
    LockManager locks = fixture.open("retryDelay=60s");
    List<String> earlier = loads(locks);
    Lease lease = fixture.take(fixture.open(), fixture.name("busy"), fixture.ttl());
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(lease.name()).waitForever());
    fixture.awaitRegardless("it waits, and asks no more", () -> "1 0".equals(last(earlier)));

    List<String> later = loads(locks);
    fixture.awaitRegardless("the load is reported", () -> !later.isEmpty());

    boolean isWaiting = !waiter.isDone();
    List<String> beforeTheNextChange = List.copyOf(later);
    waiter.cancel(true);
    if (!isWaiting) {
      AnotherRule.isBroken("a request for a lock of another owner does not wait");
    }
    assertThat(beforeTheNextChange).as("loads that were reported to it").contains("1 0");
  }

  /** Returns what a new listener is given: the requests that wait, and operations in flight. */
  private static List<String> loads(LockManager locks) {
    List<String> loads = new CopyOnWriteArrayList<>();
    locks.addListener(
        new LockListener() {
          @Override
          public void onLoad(int waiting, int inFlight) {
            loads.add(waiting + " " + inFlight);
          }
        });
    return loads;
  }

  private static @Nullable String last(List<String> loads) {
    return loads.isEmpty() ? null : loads.get(loads.size() - 1);
  }

  /**
   * Checks the last report of the load. The waiters retry only after a minute, so that no later
   * report replaces a missing one.
   */
  @Test
  @Rule("LISTEN-11")
  @IfThisFails("check that the last report of the load is never left out, in a crowd of reports")
  void theLoadOfRequestsThatBeginTogetherIsReportedToTheLast() {
    LockManager locks = fixture.open("retryDelay=60s");
    AtomicInteger waiting = new AtomicInteger();
    locks.addListener(
        new LockListener() {
          @Override
          public void onLoad(int requests, int inFlight) {
            waiting.set(requests);
          }
        });
    Lease lease = fixture.take(fixture.open(), fixture.name("crowd"), fixture.ttl());
    List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();

    for (int i = 0; i < 12; i++) {
      waiters.add(locks.tryAcquireAsync(fixture.request(lease.name()).waitForever()));
    }
    fixture.soon().untilAsserted(() -> assertThat(waiting).as("of 12 requests").hasValue(12));
    // Those at the end, because another one at the head would ask and be reported, too.
    waiters.subList(5, 12).forEach(waiter -> waiter.cancel(true));
    fixture.soon().untilAsserted(() -> assertThat(waiting).as("of 5 requests").hasValue(5));

    waiters.forEach(waiter -> waiter.cancel(true));
  }

  /** Uses the manager on another thread during each call, and waits for that thread. */
  private final class Asking implements LockListener {
    private final LockManager locks;
    private final Lease held;
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final List<String> stuck = new CopyOnWriteArrayList<>();

    Asking(LockManager locks, Lease held) {
      this.locks = locks;
      this.held = held;
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      ask("granted", name);
    }

    @Override
    public void onReleased(String name, long leaseId, long heldNanos, boolean confirmed) {
      ask("released", name);
    }

    @Override
    public void onLost(String name, long leaseId, LossReason reason, long heldNanos) {
      ask("lost", name);
    }

    private void ask(String call, String name) {
      CountDownLatch done = new CountDownLatch(1);
      Call.begin(
          () -> {
            use(name);
            done.countDown();
            return true;
          });
      try {
        if (!done.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          stuck.add(call);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      calls.add(call);
    }

    private void use(String name) {
      locks.leases();
      locks.nodes();
      locks.capabilities();
      held.isHeld();
      held.remaining();
      locks.addListener(new LockListener() {}).close();
      locks.tryAcquireAsync(fixture.request(name)).cancel(true);
      if (fixture.declares(LockCapability.EXTENSION)) {
        held.extendAsync(fixture.ttl());
      }
    }
  }
}
