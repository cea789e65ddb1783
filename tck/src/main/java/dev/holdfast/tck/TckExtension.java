package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Gives each test its {@link Trial}, leaves it out where its rule does not bind the backend, limits
 * its time, and says with each failure which rule it is about and what to check.
 */
final class TckExtension implements ParameterResolver, InvocationInterceptor, AfterEachCallback {
  private static final String SOAK = "holdfast.soak";
  private static final int LONGER_TO_SOAK = 10;

  private final Class<?> kit;
  private final TckEnvironment environment;
  private final Set<LockCapability> capabilities;
  private final ByDesign byDesign;
  private @Nullable Trial trial;

  TckExtension(Class<?> kit, TckEnvironment environment) {
    this.kit = kit;
    this.environment = environment;
    byDesign = new ByDesign(environment.brokenByDesign());
    Map<String, String> patient =
        environment.nodes().size() < 2 ? Map.of() : Map.of("connectTimeout", "10s");
    try (LockManager manager = environment.open(patient)) {
      capabilities = manager.capabilities();
    }
  }

  /** Fails for rules that were said to be broken by design, and have not been seen to break. */
  void assertBrokenByDesign() {
    Optional<String> unseen = byDesign.unseen();
    if (unseen.isPresent()) {
      throw new AssertionError("[" + kit.getSimpleName() + "] " + unseen.get());
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Trial.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Trial begun = new Trial(environment, capabilities);
    trial = begun;
    return begun;
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    Method test = method.getExecutable();
    Rule named = test.getAnnotation(Rule.class);
    if (named == null) {
      invocation.proceed();
      return;
    }
    byDesign.begin(named);
    boolean soak = context.getTags().contains("soak");
    if (soak && !Boolean.getBoolean(SOAK)) {
      invocation.skip();
      Assumptions.abort("takes minutes: -D" + SOAK + "=true runs it");
    }
    for (String id : named.value()) {
      Optional<LockCapability> needed = Spec.rule(id).capability();
      if (needed.isPresent() && !capabilities.contains(needed.get())) {
        invocation.skip();
        Assumptions.abort("not declared: " + needed.get());
      }
    }
    Duration limit = environment.timing().limit().multipliedBy(soak ? LONGER_TO_SOAK : 1);
    Throwable thrown = thrownBy(invocation, limit);
    if (thrown instanceof TestAbortedException) {
      throw thrown;
    }
    if (thrown == null) {
      return;
    }
    Optional<String> reason = byDesign.reason(named, thrown);
    if (reason.isPresent()) {
      Assumptions.abort("broken by design: " + reason.get());
    }
    throw new AssertionError(explained(test, named, thrown), thrown);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Trial ended = trial;
    trial = null;
    if (ended != null) {
      ended.close();
    }
  }

  private String explained(Method test, Rule named, Throwable thrown) {
    IfThisFails hint = test.getAnnotation(IfThisFails.class);
    return "["
        + kit.getSimpleName()
        + "] "
        + Spec.rule(named.value()[0])
        + (hint == null ? "" : "\nIf this fails, " + hint.value())
        + "\n"
        + (thrown.getMessage() == null ? thrown : thrown.getMessage());
  }

  /** What a test threw. It runs on a thread of its own, so that one that hangs fails, too. */
  private static @Nullable Throwable thrownBy(Invocation<Void> test, Duration limit)
      throws InterruptedException {
    Throwable[] thrown = new Throwable[1];
    CountDownLatch ended = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () -> {
              try {
                test.proceed();
              } catch (Throwable t) {
                thrown[0] = t;
              }
              ended.countDown();
            },
            "holdfast-tck");
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    thread.setDaemon(true);
    thread.start();
    if (ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      return thrown[0];
    }
    Throwable hangs = new TimeoutException("it did not end within " + limit);
    hangs.setStackTrace(thread.getStackTrace());
    thread.interrupt();
    return hangs;
  }
}
