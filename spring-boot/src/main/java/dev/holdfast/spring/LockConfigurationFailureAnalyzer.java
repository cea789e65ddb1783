package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.util.Objects;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Description and action for a start that failed because of the configuration of locks. Before
 * Boot's analyzers, which would report the missing bean and not the reason.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class LockConfigurationFailureAnalyzer
    extends AbstractFailureAnalyzer<LockConfigurationException> {
  private static final String ACTION =
      "Correct holdfast.url, holdfast.nodes, holdfast.options, the dependencies or the annotation"
          + " @Locked, as the description says";

  @Override
  protected FailureAnalysis analyze(Throwable failure, LockConfigurationException cause) {
    String message = Objects.requireNonNullElse(cause.getMessage(), "a wrong configuration");
    String sentence = message.lines().findFirst().orElse(message); // without the excerpt of a URL
    int advice = sentence.indexOf("; ");
    String action = advice < 0 ? ACTION : sentence.substring(advice + 2);
    return new FailureAnalysis(
        message, Character.toUpperCase(action.charAt(0)) + action.substring(1) + ".", cause);
  }
}
