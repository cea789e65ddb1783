package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.LockConfigurationException;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** Helpers for calls and starts that must fail. */
final class Failures {
  private Failures() {}

  static FailureAnalysis analyze(AssertableApplicationContext context) {
    return analyze(Objects.requireNonNull(context.getStartupFailure(), "the start succeeded"));
  }

  static Throwable catching(ThrowingCallable call) {
    return Objects.requireNonNull(catchThrowable(call), "the call succeeded");
  }

  /** Asserts that a wrong configuration made the start fail, and returns its assertions. */
  static AbstractThrowableAssert<?, ?> assertThatTheStartIsRefused(
      AssertableApplicationContext context) {
    return assertThat(context)
        .getFailure()
        .rootCause()
        .isInstanceOf(LockConfigurationException.class);
  }

  static FailureAnalysis analyze(Throwable failure) {
    List<FailureAnalyzer> analyzers =
        SpringFactoriesLoader.forDefaultResourceLocation(FailureAnalyzer.class.getClassLoader())
            .load(
                FailureAnalyzer.class,
                ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory()),
                (type, name, problem) -> {});
    return analyzers.stream()
        .filter(each -> each.getClass().getPackageName().equals(Locked.class.getPackageName()))
        .map(analyzer -> analyzer.analyze(failure))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no analysis", failure));
  }
}
