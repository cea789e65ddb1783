package dev.holdfast.micrometer;

import static dev.holdfast.micrometer.RecordedObservations.high;
import static dev.holdfast.micrometer.RecordedObservations.low;
import static dev.holdfast.micrometer.RecordedObservations.parent;
import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.FullDisk;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Uncancellable;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Observations of locks in memory. */
class HoldfastObservationsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("order-4711", TTL);
  private static final String ACQUIRE = "holdfast.lock.acquire";
  private static final String HOLD = "holdfast.lock.hold";

  private final ManualClock clock = new ManualClock();
  private final LockManager memory = MemoryLocks.builder().clock(clock).open();
  private final ObservationRegistry registry = TestObservationRegistry.create();
  private final RecordedObservations recorded = new RecordedObservations();
  private final LockManager locks = HoldfastObservations.observed(memory, "orders", registry);

  @BeforeEach
  void record() {
    registry.observationConfig().observationHandler(recorded);
  }

  @AfterEach
  void close() {
    locks.close();
    assertThat(registry.getCurrentObservation()).isNull();
  }

  @Test
  void anAcquireAndAHoldAreObservedBelowTheCallersObservation() throws Exception {
    Observation caller = Observation.start("caller", registry);
    caller.scopedChecked(
        () -> {
          try (Lease lease = locks.acquire(REQUEST)) {
            assertThat(lease.name()).isEqualTo("order-4711");
            assertThat(recorded.ended(ACQUIRE)).hasSize(1);
            assertThat(recorded.ended(HOLD)).isEmpty();
            assertThat(registry.getCurrentObservation()).isSameAs(caller);
          }
        });
    caller.stop();

    assertThat(low(one(ACQUIRE))).isEqualTo(Map.of("manager", "orders", "outcome", "granted"));
    assertThat(low(one(HOLD))).isEqualTo(Map.of("manager", "orders", "end", "released"));
    for (String name : new String[] {ACQUIRE, HOLD}) {
      assertThat(high(one(name))).isEqualTo(Map.of("lock", "order-4711"));
      assertThat(parent(one(name))).isSameAs(caller);
      assertThat(one(name).getError()).isNull();
    }
    assertThat(recorded.started.stream().map(Observation.Context::getContextualName))
        .containsSubsequence("acquire lock", "hold lock");
  }

  @Test
  void anAsynchronousAcquireStartsOnTheCallersThread() {
    Observation caller = Observation.start("caller", registry);
    CompletableFuture<Optional<Lease>> future = caller.scoped(() -> locks.tryAcquireAsync(REQUEST));
    caller.stop();
    Lease lease = future.join().orElseThrow();
    assertThat(lease.releaseAsync()).succeedsWithin(TTL).isEqualTo(true);
    soon().untilAsserted(() -> assertThat(recorded.ended(HOLD)).hasSize(1));

    int acquire = recorded.started.indexOf(one(ACQUIRE));
    assertThat(recorded.threads.get(acquire)).isSameAs(Thread.currentThread());
    assertThat(parent(one(ACQUIRE))).isSameAs(caller);
    assertThat(parent(one(HOLD))).isSameAs(caller);
    assertThat(low(one(HOLD))).containsEntry("end", "released");
  }

  @Test
  void theRequestIsCurrentWhileTheManagerWorks() throws Exception {
    Observation[] seen = new Observation[1];
    LockManager inner =
        Forwarding.manager(
            method -> {
              seen[0] = registry.getCurrentObservation();
              return Optional.empty();
            });

    assertThat(HoldfastObservations.observed(inner, "m", registry).tryAcquire(REQUEST)).isEmpty();

    assertThat(seen[0].getContext().getName()).isEqualTo(ACQUIRE);
  }

  @Test
  void contentionIsAnOutcomeAndNoError() throws Exception {
    try (Lease lease = memory.acquire(REQUEST)) {
      lease.requireHeld();
      assertThat(locks.tryAcquire(REQUEST)).isEmpty();
      assertThat(locks.tryAcquireAsync(REQUEST)).succeedsWithin(TTL).isEqualTo(Optional.empty());
      assertThatThrownBy(() -> locks.acquire(REQUEST.waitAtMost(Duration.ZERO)))
          .isInstanceOf(LockContendedException.class);
    }

    assertThat(recorded.ended(ACQUIRE))
        .hasSize(3)
        .allSatisfy(
            context -> {
              assertThat(low(context)).containsEntry("outcome", "contended");
              assertThat(context.getError()).isNull();
            });
    assertThat(recorded.started).hasSize(3);
  }

  @Test
  void failuresAreOutcomesWithTheirErrors() {
    memory.unwrap(MemoryStore.class).orElseThrow().outage(true);
    assertThatThrownBy(() -> locks.tryAcquire(REQUEST)).isInstanceOf(LockOutageException.class);
    assertThatThrownBy(() -> locks.tryAcquire("a", Duration.ofDays(300)))
        .isInstanceOf(LockConfigurationException.class);
    locks.close();
    assertThatThrownBy(() -> locks.tryAcquire(REQUEST)).isInstanceOf(IllegalStateException.class);

    assertThat(recorded.ended(ACQUIRE).stream().map(context -> low(context).get("outcome")))
        .containsExactly("outage", "configuration", "error");
    assertThat(recorded.ended(ACQUIRE)).allMatch(context -> context.getError() != null);
  }

  @Test
  void anInterruptIsAnOutcomeAndNoError() {
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> locks.acquire(REQUEST)).isInstanceOf(InterruptedException.class);

    assertThat(low(one(ACQUIRE))).containsEntry("outcome", "interrupted");
    assertThat(one(ACQUIRE).getError()).isNull();
  }

  @Test
  void anAsynchronousFailureReachesTheCallerAsItIs() {
    memory.unwrap(MemoryStore.class).orElseThrow().outage(true);
    CompletableFuture<Throwable> seen = new CompletableFuture<>();

    locks.tryAcquireAsync(REQUEST).whenComplete((lease, failure) -> seen.complete(failure));

    assertThat(seen).succeedsWithin(TTL).isInstanceOf(LockOutageException.class);
    assertThat(low(one(ACQUIRE))).containsEntry("outcome", "outage");
  }

  @Test
  void aCancelledRequestLeavesNoLockAndNoOpenObservation() throws Exception {
    try (Lease lease = memory.acquire(REQUEST)) {
      CompletableFuture<Optional<Lease>> waiting = locks.tryAcquireAsync(REQUEST.waitForever());
      assertThat(waiting.cancel(false)).isTrue();
      soon().untilAsserted(() -> assertThat(recorded.ended(ACQUIRE)).hasSize(1));
      lease.requireHeld();
    }

    assertThat(low(one(ACQUIRE))).containsEntry("outcome", "interrupted");
    assertThat(memory.tryAcquire(REQUEST)).isPresent();
  }

  @Test
  void aLeaseThatNoCallerTakesIsReleasedAndItsHoldEnds() {
    CompletableFuture<Optional<Lease>> inner = new CompletableFuture<>();
    CompletableFuture<Optional<Lease>> outer =
        HoldfastObservations.observed(Forwarding.manager(method -> inner), "m", registry)
            .tryAcquireAsync(REQUEST);
    outer.completeExceptionally(new IllegalStateException("a timeout of the caller"));
    assertThat(inner).isCancelled();

    CompletableFuture<Optional<Lease>> late = new Uncancellable<>();
    HoldfastObservations.observed(Forwarding.manager(method -> late), "m", registry)
        .tryAcquireAsync(REQUEST)
        .cancel(false);
    late.complete(memory.tryAcquireAsync(REQUEST.holdAtLeast(Duration.ofHours(1))).join());

    soon().untilAsserted(() -> assertThat(recorded.ended(HOLD)).hasSize(1));
    soon().untilAsserted(() -> assertThat(memory.inspect(REQUEST.name())).isEmpty());
  }

  @Test
  void aLostLeaseEndsItsHoldWithoutItsHolder() throws Exception {
    Lease lease = locks.acquire(REQUEST);

    clock.advance(TTL);

    soon().untilAsserted(() -> assertThat(recorded.ended(HOLD)).hasSize(1));
    assertThat(low(one(HOLD))).containsEntry("end", "lost");
    assertThat(one(HOLD).getError())
        .isInstanceOf(LockLostException.class)
        .message()
        .contains("EXPIRED");
    lease.close();
    assertThat(recorded.ended(HOLD)).hasSize(1);
  }

  @Test
  void aReleaseThatFindsNoKeyEndsTheHoldAsLost() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    memory.forceRelease(REQUEST.name());

    assertThat(lease.release()).isFalse();

    assertThat(low(one(HOLD))).containsEntry("end", "lost");
    assertThat(one(HOLD).getError()).message().contains("REMOVED");
  }

  @Test
  void aReleaseWithoutAnAnswerEndsTheHoldWithItsError() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    memory.unwrap(MemoryStore.class).orElseThrow().outage(true);

    assertThatThrownBy(lease::release).isInstanceOf(LockOutageException.class);

    assertThat(low(one(HOLD))).containsEntry("end", "released");
    assertThat(one(HOLD).getError()).isInstanceOf(LockOutageException.class);
  }

  @Test
  void aTransferAndItsAdoptionAreObserved() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    String text = lease.transfer(TTL);
    assertThat(low(one(HOLD))).containsEntry("end", "transferred");

    Lease adopted = locks.adopt(text, REQUEST);
    String again = adopted.transferAsync(TTL).join();
    soon().untilAsserted(() -> assertThat(recorded.ended(HOLD)).hasSize(2));
    Lease third = locks.adoptAsync(again, REQUEST).join();
    assertThat(third.release()).isTrue();

    assertThat(recorded.ended(HOLD).stream().map(context -> low(context).get("end")))
        .containsExactly("transferred", "transferred", "released");
    assertThat(recorded.ended(ACQUIRE).stream().map(Observation.Context::getContextualName))
        .containsExactly("acquire lock", "adopt lock", "adopt lock");
    assertThatThrownBy(() -> locks.adopt(again, REQUEST)).isInstanceOf(LockLostException.class);
    assertThat(low(recorded.ended(ACQUIRE).get(3))).containsEntry("outcome", "lost");
    assertThat(recorded.stopped.toString()).doesNotContain(text).doesNotContain(again);
  }

  @SuppressWarnings("NullAway")
  @Test
  void theHoldIsCurrentDuringATask() throws Exception {
    String name =
        locks.executeLocked(
            REQUEST, lease -> registry.getCurrentObservation().getContext().getName());
    Optional<String> tried =
        locks.tryExecuteLocked(
            REQUEST, lease -> registry.getCurrentObservation().getContext().getName());

    assertThat(name).isEqualTo(HOLD);
    assertThat(tried).contains(HOLD);
    assertThat(recorded.ended(HOLD)).hasSize(2);
  }

  @Test
  void theLeaseOfATaskIsFoundByTheManagerAndByTheDecorator() throws Exception {
    locks.runLocked(
        REQUEST,
        lease -> {
          assertThat(Locks.requireCurrent(locks, REQUEST.name())).isSameAs(lease);
          assertThat(Locks.requireCurrent(memory, REQUEST.name())).isSameAs(lease);
        });
  }

  @ParameterizedTest
  @CsvSource({
    "onStart,       IllegalStateException",
    "onScopeOpened, IllegalStateException",
    "onScopeClosed, IllegalStateException",
    "onStop,        IllegalStateException",
    "onStart,       NoSuchMethodError",
    "onScopeOpened, NoSuchMethodError",
    "onScopeClosed, NoSuchMethodError",
    "onStop,        NoSuchMethodError"
  })
  void aHandlerThatFailsCostsNoLockAndIsLoggedOnce(String method, String failure) throws Exception {
    registry.observationConfig().observationHandler(new FailingHandler(method, failure));

    try (Logs logs = new Logs()) {
      String done = locks.executeLocked(REQUEST, held -> "done");
      assertThat(done).isEqualTo("done");
      Lease lease = locks.tryAcquireAsync(REQUEST).join().orElseThrow();
      assertThat(lease.release()).isTrue();
      assertThat(logs.warnings()).hasSize(1).first().asString().contains("correct the handler");
    }
    assertThat(memory.leases()).isEmpty();
  }

  @Test
  void aHandlerAndALoggerThatFailCostNoLock() throws Exception {
    registry
        .observationConfig()
        .observationHandler(new FailingHandler("onStart", "IllegalStateException"));

    FullDisk.during(
        HoldfastObservations.class, () -> assertThat(locks.acquire(REQUEST).release()).isTrue());
  }

  @Test
  void metersOfObservationsAndOfMetricsDoNotClashInPrometheus() throws Exception {
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    meters.throwExceptionOnRegistrationFailure();
    new HoldfastMetrics(locks, "orders", Tags.empty()).bindTo(meters);

    locks.acquire(REQUEST).close();

    assertThat(meters.scrape())
        .contains("holdfast_lock_hold_seconds_count{end=\"released\"")
        .contains("holdfast_hold_seconds_count{")
        .doesNotContain(REQUEST.name());
  }

  private Observation.Context one(String name) {
    assertThat(recorded.ended(name)).hasSize(1);
    return recorded.ended(name).get(0);
  }

  /**
   * A handler with a bug in one method.
   *
   * @param method the method that throws
   * @param failure the class of the exception. Another version of a library may lead to an error
   */
  private record FailingHandler(String method, String failure)
      implements ObservationHandler<Observation.Context> {
    @Override
    public void onStart(Observation.Context context) {
      failIn("onStart");
    }

    @Override
    public void onScopeOpened(Observation.Context context) {
      failIn("onScopeOpened");
    }

    @Override
    public void onScopeClosed(Observation.Context context) {
      failIn("onScopeClosed");
    }

    @Override
    public void onStop(Observation.Context context) {
      failIn("onStop");
    }

    private void failIn(String called) {
      if (called.equals(method)) {
        if (failure.equals("NoSuchMethodError")) {
          throw new NoSuchMethodError(method);
        }
        throw new IllegalStateException("a bug in " + method);
      }
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return true;
    }
  }
}
