package dev.holdfast.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Leaves a class out unless the suite runs for this backend. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(RunsFor.Condition.class)
@interface RunsFor {
  Backend value();

  /** Asks {@link Backend#all()}. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return AnnotationSupport.findAnnotation(context.getElement(), RunsFor.class)
          .map(RunsFor::value)
          .filter(backend -> !Backend.all().contains(backend))
          .map(backend -> ConditionEvaluationResult.disabled(backend + " was not asked for"))
          .orElse(ConditionEvaluationResult.enabled("asked for"));
    }
  }
}
