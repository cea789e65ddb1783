package dev.holdfast.stalls;

import java.lang.reflect.Method;
import java.util.Optional;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * A test that failed while the machine stalled is run once more, by itself in a process of its own,
 * twice at most; that counts. Each failure that is forgiven is printed, with what was seen of the
 * machine. JUnit finds this extension by itself: the module on a test class path is all it needs.
 */
public final class AgainAfterAStall implements InvocationInterceptor {
  private static final int MOST = 2;
  private static final Stalls THIS_MACHINE = Stalls.watched();

  private final Stalls stalls;

  /** For JUnit. */
  public AgainAfterAStall() {
    this(THIS_MACHINE);
  }

  AgainAfterAStall(Stalls stalls) {
    this.stalls = stalls;
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context)
      throws Throwable {
    run(test, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context)
      throws Throwable {
    run(test, context);
  }

  @Override
  public void interceptDynamicTest(
      Invocation<Void> test, DynamicTestInvocationContext dynamic, ExtensionContext context)
      throws Throwable {
    run(test, context);
  }

  private void run(Invocation<Void> test, ExtensionContext context) throws Throwable {
    Stalls.Mark begun = stalls.mark();
    try {
      test.proceed();
    } catch (TestAbortedException notForHere) {
      throw notForHere;
    } catch (Exception | AssertionError failure) {
      Optional<String> seen = stalls.since(begun);
      if (seen.isEmpty() || OneTest.isRunning() || Thread.currentThread().isInterrupted()) {
        throw failure;
      }
      String id = context.getUniqueId();
      System.err.println("AGAIN " + id + ": it failed while " + seen.get() + ": " + failure);
      failure.printStackTrace();
      for (int i = 0; i < MOST; i++) {
        if (OneTest.passes(id)) {
          return;
        }
      }
      throw failure;
    }
  }
}
