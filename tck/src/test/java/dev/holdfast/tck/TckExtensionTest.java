package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckTiming;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The beginning of a run of the kit. */
class TckExtensionTest {
  private static final AtomicInteger CLOSED = new AtomicInteger();
  private static final AtomicInteger MADE = new AtomicInteger();

  /** The kit of a backend that cannot be opened. Found by the launcher alone. */
  static class Unopened extends LockManagerTck {
    private final String reason = "there is no such backend";

    @Override
    protected TckEnvironment environment() {
      return new Failing(Objects.requireNonNull(reason));
    }
  }

  private record Failing(String reason) implements TckEnvironment {
    @Override
    public LockManager open(Map<String, String> options) {
      throw new LockConfigurationException(reason);
    }

    @Override
    public void close() {
      CLOSED.incrementAndGet();
    }
  }

  /**
   * The kit of a backend whose managers do something else than grant. Found by the launcher alone.
   */
  abstract static class Doing extends LockManagerTck {
    private final Function<LockManager, Callable<Object>> act;

    Doing(Function<LockManager, Callable<Object>> act) {
      this.act = act;
    }

    @Override
    protected TckEnvironment environment() {
      return new Acting(act);
    }
  }

  /** Each attempt ends when its thread is interrupted. */
  static class Hanging extends Doing {
    Hanging() {
      super(
          locks ->
              () -> {
                new CountDownLatch(1).await();
                return Optional.empty();
              });
    }
  }

  /** Each second attempt ends when its thread is interrupted, and the others are outages. */
  static class HangingAtTimes extends Doing {
    private static final AtomicInteger ATTEMPTS = new AtomicInteger();

    HangingAtTimes() {
      super(
          locks ->
              () -> {
                if (ATTEMPTS.incrementAndGet() % 2 == 0) {
                  new CountDownLatch(1).await();
                }
                return locks.tryAcquire("held", Duration.ofSeconds(1));
              });
    }
  }

  /** Its managers hang when they are closed. */
  static class HangingToClose extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return new Pretending(
          "close",
          () -> {
            new CountDownLatch(1).await();
            return Optional.empty();
          });
    }
  }

  /** Its managers throw when they are closed. */
  static class ThrowingToClose extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return new Pretending(
          "close",
          () -> {
            throw new StackOverflowError("closing");
          });
    }
  }

  /** Its nodes cannot be made sound again. */
  static class ThrowingToReset extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return new TckEnvironment() {
        private final MemoryEnvironment right = new MemoryEnvironment();

        @Override
        public LockManager open(Map<String, String> options) {
          return right.open(options);
        }

        @Override
        public void reset() {
          throw new IllegalStateException("a node is gone");
        }
      };
    }
  }

  /** Each attempt is an outage. */
  static class Down extends Doing {
    Down() {
      super(
          locks ->
              () -> {
                throw new LockOutageException("no node answers", Map.of(), false);
              });
    }
  }

  /** Its environments take a while to be made. */
  static class Counted extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      MADE.incrementAndGet();
      LockSupport.parkNanos(50_000_000);
      return new MemoryEnvironment();
    }
  }

  /** A forced release says that it removed the lock, and removes nothing. */
  static class Forcing extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return new Pretending("forceRelease", () -> true);
    }
  }

  /** A right backend except for one method. */
  private record Pretending(String method, Callable<Object> call) implements TckEnvironment {
    private static final MemoryEnvironment RIGHT = new MemoryEnvironment();

    @Override
    public LockManager open(Map<String, String> options) {
      LockManager locks = RIGHT.open(options);
      return (LockManager)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {LockManager.class},
              (proxy, method, arguments) -> {
                try {
                  return method.getName().equals(this.method)
                      ? call.call()
                      : method.invoke(locks, arguments);
                } catch (InvocationTargetException e) {
                  throw Objects.requireNonNull(e.getCause());
                }
              });
    }

    @Override
    public TckTiming timing() {
      TckTiming usual = TckTiming.local();
      return new TckTiming(
          usual.ttl(), usual.shortTtl(), usual.allowance(), usual.soon(), Duration.ofSeconds(2));
    }
  }

  private record Acting(Function<LockManager, Callable<Object>> act) implements TckEnvironment {
    private static final Duration BRIEF = Duration.ofMillis(50);

    @Override
    public LockManager open(Map<String, String> options) {
      LockManager locks = LockManager.open("memory:");
      return (LockManager)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {LockManager.class},
              (proxy, method, arguments) ->
                  method.getName().matches("tryAcquire|acquire")
                      ? act.apply(locks).call()
                      : method.invoke(locks, arguments));
    }

    @Override
    public TckTiming timing() {
      return new TckTiming(Duration.ofSeconds(30), BRIEF, BRIEF, BRIEF, Duration.ofMillis(200));
    }
  }

  private static TestExecutionSummary summaryOf(Class<?> kit) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectNestedClass(List.of(kit), LockManagerTck.Release.class))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    InnerRun.of(request, listener);
    return listener.getSummary();
  }

  /** Returns the failure that no test explains. */
  private static Throwable failureOfTheRun(TestExecutionSummary summary) {
    List<TestExecutionSummary.Failure> failures =
        summary.getFailures().stream()
            .filter(failure -> failure.getTestIdentifier().isContainer())
            .toList();
    assertThat(failures).hasSize(1);
    return failures.get(0).getException();
  }

  @Test
  void noMoreEnvironmentsAreMadeThanTestsMayRunAtATime() {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    String parallel = "junit.jupiter.execution.parallel.";

    InnerRun.of(
        LauncherDiscoveryRequestBuilder.request()
            .configurationParameter(parallel + "enabled", "true")
            .configurationParameter(parallel + "config.strategy", "fixed")
            .configurationParameter(parallel + "config.fixed.parallelism", "2")
            .selectors(selectNestedClass(List.of(Counted.class), LockManagerTck.Names.class))
            .build(),
        listener);

    assertThat(listener.getSummary().getTestsSucceededCount()).isGreaterThan(2);
    assertThat(MADE).hasValueLessThanOrEqualTo(2);
  }

  @Test
  void theRunIsEndedWhenFiveTestsDidNotEnd() {
    TestExecutionSummary summary = summaryOf(Hanging.class);

    assertThat(summary.getFailures())
        .hasSizeGreaterThanOrEqualTo(5)
        .filteredOn(failure -> failure.getTestIdentifier().isTest())
        .allSatisfy(
            failure ->
                assertThat(failure.getException()).hasMessageContaining("it did not end within"));
    assertThat(failureOfTheRun(summary))
        .hasMessageContainingAll(
            " tests were not shown; failed so far:", "REL-8 aReleasedLockCanBeAcquiredAtOnce");
    assertThat(summary.getTestsAbortedCount()).isGreaterThan(5);
  }

  @Test
  void theRunIsEndedWhenFiveTestsDidNotEndAndOthersDid() {
    TestExecutionSummary summary = summaryOf(HangingAtTimes.class);

    assertThat(failureOfTheRun(summary))
        .hasMessageContainingAll("5 tests did not end, so ", " tests were not shown");
  }

  @Test
  void aManagerThatHangsWhenItIsClosedFailsTheRunAndNoTest() {
    TestExecutionSummary summary = summaryOf(HangingToClose.class);

    assertThat(summary.getTestsFailedCount()).isZero();
    assertThat(failureOfTheRun(summary))
        .hasMessageContainingAll(
            "5 tests did not end, so ", "closing what '", "it did not end within PT2S")
        .satisfies(
            failure ->
                assertThat(failure.getSuppressed())
                    .hasSize(5)
                    .allSatisfy(
                        hangs ->
                            assertThat(hangs).hasStackTraceContaining("CountDownLatch.await")));
  }

  @Test
  void aManagerThatThrowsWhenItIsClosedFailsNeitherATestNorTheRun() {
    assertThat(summaryOf(ThrowingToClose.class).getFailures()).isEmpty();
  }

  @Test
  void anEnvironmentThatCannotBeResetFailsTheRunAndNoTest() {
    TestExecutionSummary summary = summaryOf(ThrowingToReset.class);

    assertThat(summary.getTestsFailedCount()).isZero();
    assertThat(failureOfTheRun(summary))
        .hasMessageContainingAll(
            " tests were not cleared up; check CLOSE-4",
            "the reset of the environment",
            "IllegalStateException: a node is gone");
  }

  @Test
  void aTestThatIsLeftToAnotherRuleFailsTheRunIfNoTestOfARuleFailed() {
    assertThat(summaryOf(Forcing.class).getFailures())
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure.getException())
                    .hasMessageContainingAll(
                        "1 tests were not shown because another rule seemed to be broken",
                        "REL-1 aReleaseSparesTheOwnerAfterAForcedRelease",
                        "no new owner came after the forced release"));
  }

  @Test
  void theExceptionsThatATestWentOnAfterAreReportedWithItsFailure() {
    assertThat(summaryOf(Down.class).getFailures())
        .isNotEmpty()
        .anySatisfy(
            failure ->
                assertThat(failure.getException())
                    .hasMessageContainingAll(
                        "Before that, the test went on after ",
                        "LockOutageException: no node answers"));
  }

  @Test
  void anEnvironmentThatOpensNothingIsClosedAndTheRunSaysWhy() {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Unopened.class)).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();

    InnerRun.of(request, listener);

    assertThat(CLOSED).hasValue(1);
    assertThat(listener.getSummary().getFailures())
        .singleElement()
        .satisfies(
            failure -> assertThat(failure.getException()).hasMessage("there is no such backend"));
  }
}
