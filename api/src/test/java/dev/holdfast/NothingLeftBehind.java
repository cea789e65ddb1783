package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * A check after each test that its thread has no current lease and no interrupt. It intercepts the
 * test, because other callbacks run on another thread than a test with a timeout.
 */
final class NothingLeftBehind implements InvocationInterceptor {
  @Override
  public void interceptTestMethod(
      Invocation<Void> test, ReflectiveInvocationContext<Method> call, ExtensionContext context)
      throws Throwable {
    proceed(test);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> test, ReflectiveInvocationContext<Method> call, ExtensionContext context)
      throws Throwable {
    proceed(test);
  }

  private static void proceed(Invocation<Void> test) throws Throwable {
    test.proceed();
    assertThat(Thread.interrupted()).as("an interrupt that a test left behind").isFalse();
    assertThat(Locks.current()).isEmpty();
  }
}
