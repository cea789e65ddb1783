package dev.holdfast.testsupport.stalls;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * A test that failed while the machine stalled is run again, by itself in a process of its own,
 * twice. It has to pass both times. Each failure that is forgiven is printed, with what was seen of
 * the machine, and added to the file that the environment names, if it names one.
 *
 * <p>Never forgiven are tests that say {@code @Tag("exclusion")}, because holders, tokens and
 * commands that are sent twice are no matter of time, and those that ran for long, in which there
 * was a stall anyhow, or which found no end. JUnit finds this extension by itself where its
 * auto-detection is on, as it is in this project's builds.
 */
public final class AgainAfterAStall implements InvocationInterceptor {
  private static final int TIMES = 2;
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String EXCLUSION = "exclusion";
  private static final String FILE = "HOLDFAST_STALLS_FILE";
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
    } catch (TestAbortedException | InterruptedException notForgiven) {
      throw notForgiven;
    } catch (Exception | AssertionError failure) {
      boolean mayBeForgiven =
          !OneTest.isRunning()
              && !context.getTags().contains(EXCLUSION)
              && System.nanoTime() - begun.nanos() < LONG.toNanos();
      Optional<String> seen = mayBeForgiven ? stalls.since(begun) : Optional.empty();
      if (seen.isEmpty()) {
        throw failure;
      }
      report(context.getUniqueId(), seen.get(), failure);
      for (int i = 0; i < TIMES; i++) {
        if (!OneTest.passes(context.getUniqueId(), failure)) {
          throw failure;
        }
      }
    }
  }

  private static void report(String test, String seen, Throwable failure) throws IOException {
    String line = "AGAIN " + test + ": it failed while " + seen;
    System.err.println(line);
    failure.printStackTrace();
    String file = System.getenv(FILE);
    if (file != null) {
      Files.writeString(
          Path.of(file),
          line + ": " + String.valueOf(failure.getMessage()).lines().findFirst().orElse("") + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }
}
