package dev.holdfast.reactor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.opentest4j.TestAbortedException;
import org.reactivestreams.tck.PublisherVerification;
import org.testng.SkipException;
import org.testng.annotations.Test;

/** The tests of the Reactive Streams kit, which are written for TestNG, as tests of JUnit. */
final class TckTests {
  private TckTests() {}

  static Stream<DynamicTest> of(Supplier<? extends PublisherVerification<?>> verification) {
    return Arrays.stream(PublisherVerification.class.getMethods())
        .filter(method -> method.isAnnotationPresent(Test.class))
        .sorted(Comparator.comparing(Method::getName))
        .map(method -> DynamicTest.dynamicTest(method.getName(), () -> run(method, verification)));
  }

  private static void run(Method method, Supplier<? extends PublisherVerification<?>> verification)
      throws Throwable {
    PublisherVerification<?> instance = verification.get();
    instance.setUp();
    try {
      method.invoke(instance);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SkipException skipped) {
        throw new TestAbortedException(skipped.getMessage(), skipped);
      }
      throw e.getCause();
    }
  }
}
