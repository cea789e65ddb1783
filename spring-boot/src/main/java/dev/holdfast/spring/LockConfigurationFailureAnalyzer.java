package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.util.Objects;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Description and action for a start that failed because of the configuration of locks. */
final class LockConfigurationFailureAnalyzer
    extends AbstractFailureAnalyzer<LockConfigurationException> {
  private static final String ACTION =
      "Correct the key below holdfast, or the annotation @Locked, that the description names";

  @Override
  protected FailureAnalysis analyze(Throwable failure, LockConfigurationException cause) {
    String message = Objects.requireNonNullElse(cause.getMessage(), "a wrong configuration");
    int advice = message.indexOf("; ");
    String action = advice < 0 ? ACTION : message.substring(advice + 2);
    return new FailureAnalysis(
        message, Character.toUpperCase(action.charAt(0)) + action.substring(1) + ".", cause);
  }
}
