package dev.holdfast.spring;

import dev.holdfast.LockOutageException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Description and action for a start that failed because no quorum of nodes answered. */
final class LockOutageFailureAnalyzer extends AbstractFailureAnalyzer<LockOutageException> {
  private static final String ACTION =
      "Start the servers, or correct holdfast.url or holdfast.nodes. If the application may start"
          + " before its servers, set holdfast.options.connect to lazy.";

  @Override
  protected FailureAnalysis analyze(Throwable failure, LockOutageException cause) {
    return new FailureAnalysis(cause.getMessage(), ACTION, cause);
  }
}
