package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.InjectionPoint;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.UnsatisfiedDependencyException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Description and action for a start that failed because a bean needs a lock manager. */
@Order(Ordered.HIGHEST_PRECEDENCE + 1)
final class MissingManagerFailureAnalyzer
    extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {
  private final BeanFactory beans;

  /** Makes the analyzer, for Spring Boot. */
  MissingManagerFailureAnalyzer(BeanFactory beans) {
    this.beans = beans;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable failure, NoSuchBeanDefinitionException cause) {
    if (cause.getBeanType() != LockManager.class || cause.getNumberOfBeansFound() > 0) {
      return null;
    }
    List<String> existing =
        beans instanceof ListableBeanFactory all
            ? List.of(all.getBeanNamesForType(LockManager.class, true, false))
            : List.of();
    return existing.isEmpty() ? noneExists(cause) : noneFits(failure, cause, existing);
  }

  private static FailureAnalysis noneExists(NoSuchBeanDefinitionException cause) {
    return new FailureAnalysis(
        "A bean needs a lock manager, and there is none: " + cause.getMessage(),
        "Set holdfast.url or holdfast.nodes, set holdfast.enabled to true if it is false, or define"
            + " a bean of the type LockManager.",
        cause);
  }

  private static FailureAnalysis noneFits(
      Throwable failure, NoSuchBeanDefinitionException cause, List<String> existing) {
    Optional<String> asked = qualifierOf(failure);
    return new FailureAnalysis(
        "No lock manager fits: "
            + asked.map(name -> "a bean needs '" + name + "', and ").orElse("")
            + (existing.size() == 1 ? "there is " : "there are ")
            + existing
            + ". "
            + cause.getMessage(),
        asked
            .map(name -> ManagersRegistrar.KEY + "." + name)
            .map(
                key ->
                    "Set "
                        + key
                        + ".url or "
                        + key
                        + ".nodes, or name one of the lock managers that exist.")
            .orElse(
                "Name one of the lock managers that exist, or define a bean of the type LockManager"
                    + " that has these annotations."),
        cause);
  }

  /** Finds the name that the innermost bean asks for, which is the last in the chain of causes. */
  private static Optional<String> qualifierOf(Throwable failure) {
    Optional<String> found = Optional.empty();
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof UnsatisfiedDependencyException unsatisfied) {
        found =
            Optional.ofNullable(unsatisfied.getInjectionPoint())
                .map(point -> qualifierAt(point))
                .filter(name -> !name.isEmpty());
      }
    }
    return found;
  }

  private static @Nullable String qualifierAt(InjectionPoint point) {
    Qualifier qualifier = point.getAnnotation(Qualifier.class);
    return qualifier == null ? null : qualifier.value();
  }
}
