package dev.holdfast.cli.tck;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The kit with the environment of a command line. JUnit makes it, so that all is static. */
@DisplayName("the kit")
@ExtendWith(TckKit.UntilStopped.class)
final class TckKit extends LockManagerTck {
  private static @Nullable TckEnvironment first;
  private static @Nullable Supplier<TckEnvironment> others;
  private static volatile boolean stopped;

  /**
   * Says what the next run is about.
   *
   * @param environment the first, which the kit closes
   * @param more makes others of the same kind, for tests that run beside the first
   */
  static void prepare(TckEnvironment environment, Supplier<TckEnvironment> more) {
    first = environment;
    others = more;
  }

  /** Begins no test any more. The one that runs ends, and cleans up, as always. */
  static void stop() {
    stopped = true;
  }

  static boolean isStopped() {
    return stopped;
  }

  @Override
  protected TckEnvironment environment() {
    TckEnvironment prepared = takeFirst();
    return prepared == null ? Objects.requireNonNull(others).get() : prepared;
  }

  private static synchronized @Nullable TckEnvironment takeFirst() {
    TckEnvironment prepared = first;
    first = null;
    return prepared;
  }

  static final class UntilStopped implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return stopped
          ? ConditionEvaluationResult.disabled("the run was ended by a signal")
          : ConditionEvaluationResult.enabled("the run goes on");
    }
  }
}
