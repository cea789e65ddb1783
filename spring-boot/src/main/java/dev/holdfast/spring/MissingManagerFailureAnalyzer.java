package dev.holdfast.spring;

import dev.holdfast.LockManager;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Description and action for a start that failed because a bean needs a lock manager. */
@Order(Ordered.HIGHEST_PRECEDENCE + 1)
final class MissingManagerFailureAnalyzer
    extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {
  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable failure, NoSuchBeanDefinitionException cause) {
    if (cause.getBeanType() != LockManager.class || cause.getNumberOfBeansFound() > 0) {
      return null;
    }
    return new FailureAnalysis(
        "A bean needs a lock manager, and there is none: " + cause.getMessage(),
        "Set holdfast.url or holdfast.nodes, set holdfast.enabled to true if it is false, or define"
            + " a bean of the type LockManager.",
        cause);
  }
}
