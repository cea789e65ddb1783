package dev.holdfast.cli;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.TckEnvironment;
import java.util.Objects;
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
  private static @Nullable TckEnvironment chosen;
  private static volatile boolean stopped;

  /** What the next run is about. */
  static void prepare(TckEnvironment environment) {
    chosen = environment;
  }

  /** Begins no test any more; the one that runs ends, and cleans up, as always. */
  static void stop() {
    stopped = true;
  }

  static boolean isStopped() {
    return stopped;
  }

  @Override
  protected TckEnvironment environment() {
    return Objects.requireNonNull(chosen);
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
