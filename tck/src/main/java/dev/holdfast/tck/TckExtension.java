package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
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
final class TckExtension
    implements BeforeAllCallback,
        ParameterResolver,
        BeforeEachCallback,
        InvocationInterceptor,
        AfterEachCallback {
  private static final String SOAK = "holdfast.soak";
  private static final int LONGER_TO_SOAK = 10;

  /** What a test that has taken too long gets to end, once it is told to. */
  private static final Duration TO_END = Duration.ofSeconds(2);

  /**
   * A backend that hangs in so many tests in a row hangs in most, and each of them takes its whole
   * limit.
   */
  private static final int MAX_HANGING = 5;

  /** Of the test that the thread begins, runs and ends. */
  private static final ThreadLocal<@Nullable Trial> TRIAL = new ThreadLocal<>();

  private final AtomicInteger hanging = new AtomicInteger();
  private final Class<?> kit;
  private final Supplier<TckEnvironment> environments;
  private @Nullable Subject subject;

  /** What is proved. */
  private record Subject(
      Lanes lanes, TckTiming timing, Set<LockCapability> capabilities, ByDesign byDesign) {

    /** Closes the first environment if nothing can be proved with it. */
    static Subject of(Supplier<TckEnvironment> environments) {
      TckEnvironment environment = environments.get();
      try {
        ByDesign byDesign = new ByDesign(environment.brokenByDesign());
        Map<String, String> patient =
            environment.hasNodeOptions() ? Map.of("connectTimeout", "10s") : Map.of();
        try (LockManager manager = environment.open(patient)) {
          return new Subject(
              new Lanes(environment, environments),
              environment.timing(),
              manager.capabilities(),
              byDesign);
        }
      } catch (RuntimeException e) {
        environment.close();
        throw e;
      }
    }
  }

  TckExtension(Class<?> kit, Supplier<TckEnvironment> environments) {
    this.kit = kit;
    this.environments = environments;
  }

  /** Of the kit, and then of each group. */
  @Override
  public void beforeAll(ExtensionContext context) {
    if (subject == null) {
      subject = Subject.of(environments);
    }
  }

  /** Fails for rules that were said to be broken by design, and have not been seen to break. */
  void end() {
    subject().lanes().close();
    Optional<String> unseen = subject().byDesign().unseen();
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
    TckEnvironment borrowed = subject().lanes().borrow();
    Trial begun = new Trial(borrowed, subject().capabilities());
    TRIAL.set(begun);
    return begun;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (TRIAL.get() != null) {
      subject().lanes().enter(context.getRequiredTestMethod());
    }
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
    subject().byDesign().begin(named);
    boolean soak = context.getTags().contains("soak");
    if (soak && !Boolean.getBoolean(SOAK)) {
      invocation.skip();
      Assumptions.abort("takes minutes: -D" + SOAK + "=true runs it");
    }
    for (String id : named.value()) {
      for (LockCapability needed : Spec.rule(id).capabilities()) {
        if (!subject().capabilities().contains(needed)) {
          invocation.skip();
          Assumptions.abort("not declared: " + needed);
        }
      }
    }
    if (hanging.get() >= MAX_HANGING) {
      invocation.skip();
      Assumptions.abort(MAX_HANGING + " tests in a row did not end, so the run was ended");
    }
    Duration limit = subject().timing().limit().multipliedBy(soak ? LONGER_TO_SOAK : 1);
    PassedOver passedOver = PassedOver.begin();
    Throwable thrown = thrownBy(invocation, limit);
    if (thrown instanceof TestAbortedException) {
      throw thrown;
    }
    if (thrown == null) {
      return;
    }
    Optional<String> reason = subject().byDesign().reason(named, thrown);
    if (reason.isPresent()) {
      Assumptions.abort("broken by design: " + reason.get());
    }
    throw new AssertionError(explained(test, named, thrown) + passedOver.text(), thrown);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Trial ended = TRIAL.get();
    TRIAL.remove();
    if (ended == null) {
      return;
    }
    try {
      ended.close();
    } finally {
      subject().lanes().leave(context.getRequiredTestMethod());
      subject().lanes().giveBack(ended.environment());
    }
  }

  private Subject subject() {
    return Objects.requireNonNull(subject);
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
  private @Nullable Throwable thrownBy(Invocation<Void> test, Duration limit)
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
      hanging.set(0);
      return thrown[0];
    }
    hanging.incrementAndGet();
    Throwable hangs = new TimeoutException("it did not end within " + limit);
    hangs.setStackTrace(thread.getStackTrace());
    thread.interrupt();
    thread.join(TO_END.toMillis());
    return hangs;
  }
}
