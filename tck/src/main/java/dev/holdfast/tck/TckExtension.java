package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckTiming;
import dev.holdfast.tck.rules.AnotherRule;
import dev.holdfast.tck.rules.IfThisFails;
import dev.holdfast.tck.rules.IgnoredFailures;
import dev.holdfast.tck.rules.Stalls;
import dev.holdfast.tck.rules.TckFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
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
 * Gives each test its {@link TckFixture}, leaves it out where its rule does not bind the backend,
 * limits its time, and says with each failure which rule it is about and what to check.
 */
final class TckExtension
    implements BeforeAllCallback,
        ParameterResolver,
        BeforeEachCallback,
        InvocationInterceptor,
        AfterEachCallback {
  private static final String SOAK = "holdfast.soak";
  private static final int LONGER_TO_SOAK = 10;

  /** The time in which a busy machine loads the classes that the first manager needs. */
  private static final Duration LOADING = Duration.ofSeconds(5);

  /** The time in which a test that took too long must end. */
  private static final Duration TO_END = Duration.ofSeconds(2);

  /** The rule by which managers close in time. */
  private static final String CLOSING = "CLOSE-4";

  /** Each test that hangs takes its limit, and more of them would not help a reader. */
  private static final int MAX_HANGING = 5;

  /** The test that the thread begins, runs and ends. */
  private static final ThreadLocal<@Nullable Turn> CURRENT = new ThreadLocal<>();

  /** The key of a test's turn: another extension may run it on another thread. */
  private static final ExtensionContext.Namespace TURNS =
      ExtensionContext.Namespace.create(TckExtension.class);

  /** More tries than a machine that stalls needs to show what a backend does. */
  private static final int MAX_TRIES = 5;

  /** A test that was left out while a thread waited so long for a processor shows nothing. */
  private static final Duration STALL = Duration.ofMillis(50);

  /**
   * The time that failed tests may take in total, in multiples of {@code soon}, the limit of a
   * wait.
   */
  private static final int MAX_WAITS_IN_VAIN = 40;

  private final AtomicInteger hanging = new AtomicInteger();
  private final AtomicInteger hangingInARow = new AtomicInteger();
  private final AtomicLong nanosOfFailed = new AtomicLong();
  private final AtomicInteger notShown = new AtomicInteger();
  private final Queue<String> failed = new ConcurrentLinkedQueue<>();
  private final Queue<String> leftToOthers = new ConcurrentLinkedQueue<>();
  private final Queue<NotClosed> notClosed = new ConcurrentLinkedQueue<>();
  private final Class<?> kit;
  private final Supplier<TckEnvironment> environments;
  private @Nullable Subject subject;

  /** One test in its slot. */
  private record Turn(TestSlot slot, TckFixture fixture) {}

  /** A test whose managers were not closed, or whose nodes were not reset. */
  private record NotClosed(String test, Throwable thrown) {
    @Override
    public String toString() {
      return "closing what '" + test + "' had opened: " + thrown;
    }
  }

  /** The subject of the proof. */
  private record Subject(
      EnvironmentPool pool,
      TckTiming timing,
      Set<LockCapability> capabilities,
      ExpectedFailures byDesign) {

    /** Closes the first environment if nothing can be proved with it. */
    static Subject of(Supplier<TckEnvironment> environments) {
      TestSlot first = TestSlot.of(environments);
      TckEnvironment environment = first.environment();
      try {
        ExpectedFailures byDesign = new ExpectedFailures(environment.brokenByDesign());
        Map<String, String> patient =
            environment.hasNodeOptions() ? Map.of("connectTimeout", "10s") : Map.of();
        return new Subject(
            new EnvironmentPool(first, environments),
            environment.timing(),
            first.capabilities(patient, environment.timing().limit().plus(LOADING)),
            byDesign);
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

  /** Starts the kit, and then each group. */
  @Override
  public void beforeAll(ExtensionContext context) {
    if (subject == null) {
      subject = Subject.of(environments);
    }
  }

  /**
   * Fails if tests were not shown that no failure explains, if one could not be closed, and for
   * rules that were said to be broken by design, and have not been seen to break.
   */
  void end() {
    subject().pool().close();
    if (notShown.get() > 0) {
      throw failure(
          "%s, so %d tests were not shown; failed so far:%s%s"
              .formatted(reasonToEnd(), notShown.get(), listed(failed), listed(notClosed)));
    }
    if (!notClosed.isEmpty()) {
      throw failure(
          "%d tests were not cleared up; check %s, and the reset of the environment:%s"
              .formatted(notClosed.size(), Spec.rule(CLOSING), listed(notClosed)));
    }
    if (failed.isEmpty() && !leftToOthers.isEmpty() && !subject().byDesign().isAnySeen()) {
      throw failure(
          "%d tests were not shown because another rule seemed to be broken, and no test of any rule failed:%s"
              .formatted(leftToOthers.size(), listed(leftToOthers)));
    }
    Optional<String> unseen = subject().byDesign().unseen();
    if (unseen.isPresent()) {
      throw failure(unseen.get());
    }
  }

  /** Returns a failure of the run, with what was thrown when tests were closed. */
  private AssertionError failure(String message) {
    AssertionError failure = new AssertionError("[" + kit.getSimpleName() + "] " + message);
    notClosed.forEach(test -> failure.addSuppressed(test.thrown()));
    return failure;
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TckFixture.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    TestSlot slot = subject().pool().borrow();
    TckFixture begun = new TckFixture(slot.environment(), subject().capabilities());
    CURRENT.set(new Turn(slot, begun));
    return begun;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    Turn begun = CURRENT.get();
    if (begun != null) {
      context.getStore(TURNS).put(Turn.class, begun);
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
    Optional<String> leftOut = reasonToLeaveOut(named, soak);
    if (leftOut.isPresent()) {
      invocation.skip();
      Assumptions.abort(leftOut.get());
    }
    Duration limit = subject().timing().limit().multipliedBy(soak ? LONGER_TO_SOAK : 1);
    limit = limit.dividedBy(1L << hangingInARow.get()); // most tests hang, so each gets less
    IgnoredFailures passedOver = IgnoredFailures.begin();
    long begun = System.nanoTime();
    Turn turn = Objects.requireNonNull(context.getStore(TURNS).get(Turn.class, Turn.class));
    Throwable thrown = thrownByTries(named, invocation, method, turn, limit);
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
    nanosOfFailed.addAndGet(System.nanoTime() - begun);
    failed.add(named.value()[0] + " " + test.getName());
    throw new AssertionError(explained(test, named, thrown) + passedOver.text(), thrown);
  }

  /** Returns why a test does not run, or empty if it runs. */
  private Optional<String> reasonToLeaveOut(Rule named, boolean soak) {
    if (soak && !Boolean.getBoolean(SOAK)) {
      return Optional.of("takes minutes: -D" + SOAK + "=true runs it");
    }
    for (String id : named.value()) {
      for (LockCapability needed : Spec.rule(id).capabilities()) {
        if (!subject().capabilities().contains(needed)) {
          return Optional.of("not declared: " + needed);
        }
      }
    }
    if (isToEnd()) {
      notShown.incrementAndGet();
      return Optional.of(reasonToEnd() + ", so the run was ended");
    }
    return Optional.empty();
  }

  /** Returns what a test threw. It runs again if another rule seems to be broken. */
  private @Nullable Throwable thrownByTries(
      Rule named,
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      Turn turn,
      Duration limit)
      throws InterruptedException {
    TestSlot slot = turn.slot();
    Throwable thrown = thrownBy(slot, invocation::proceed, limit);
    boolean isStalled = false;
    for (int tries = 1; thrown instanceof AnotherRule.Broken && tries < MAX_TRIES; tries++) {
      if (!failed.isEmpty()) {
        break;
      }
      turn.fixture().restart();
      try (Stalls stalls = Stalls.watched()) {
        thrown = thrownBy(slot, () -> again(method), limit);
        isStalled = stalls.worst().compareTo(STALL) > 0;
      }
    }
    if (thrown instanceof AnotherRule.Broken left && !isStalled) {
      String test = named.value()[0] + " " + method.getExecutable().getName();
      leftToOthers.add(test + ": " + left.getMessage());
    }
    return thrown;
  }

  @Override
  public void afterEach(ExtensionContext context) throws InterruptedException {
    Turn ended = CURRENT.get();
    CURRENT.remove();
    if (ended == null) {
      return;
    }
    try {
      close(ended, context.getDisplayName());
    } finally {
      subject().pool().release(ended.slot());
    }
  }

  /** Closes what a test has opened. A failure of it fails the run, not the rule of the test. */
  private void close(Turn ended, String test) throws InterruptedException {
    Duration limit = subject().timing().limit();
    Throwable thrown = thrownBy(ended.slot(), ended.fixture()::close, limit);
    if (thrown instanceof TimeoutException) {
      thrownBy(ended.slot(), ended.slot().environment()::reset, limit); // which close did not reach
    }
    if (thrown != null) {
      notClosed.add(new NotClosed(test, thrown));
    }
  }

  private boolean isToEnd() {
    return hanging.get() >= MAX_HANGING
        || nanosOfFailed.get()
            > subject().timing().soon().multipliedBy(MAX_WAITS_IN_VAIN).toNanos();
  }

  private String reasonToEnd() {
    return hanging.get() >= MAX_HANGING
        ? MAX_HANGING + " tests did not end"
        : "%d tests failed in %d s"
            .formatted(failed.size(), TimeUnit.NANOSECONDS.toSeconds(nanosOfFailed.get()));
  }

  private static String listed(Collection<?> lines) {
    return lines.stream().map(line -> "\n  " + line).collect(Collectors.joining());
  }

  private static void again(ReflectiveInvocationContext<Method> method) throws Throwable {
    try {
      method.getExecutable().invoke(method.getTarget().orElseThrow());
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  /** Work on a thread of its own. */
  private interface Work {
    void run() throws Throwable;
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

  /**
   * Returns what a test threw. It runs on a thread of its own, so that one that hangs fails, too.
   */
  private @Nullable Throwable thrownBy(TestSlot slot, Work test, Duration limit)
      throws InterruptedException {
    Throwable[] thrown = new Throwable[1];
    CountDownLatch ended = new CountDownLatch(1);
    Thread thread =
        slot.start(
            "holdfast-tck",
            () -> {
              try {
                test.run();
              } catch (Throwable t) {
                thrown[0] = t;
              }
              ended.countDown();
            });
    if (ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      hangingInARow.set(0);
      return thrown[0];
    }
    hanging.incrementAndGet();
    hangingInARow.incrementAndGet();
    Throwable hangs = new TimeoutException("it did not end within " + limit);
    hangs.setStackTrace(thread.getStackTrace());
    thread.interrupt();
    thread.join(TO_END.toMillis());
    return hangs;
  }
}
