package dev.holdfast.junit;

import dev.holdfast.LockManager;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Gives each test a lock manager of its own. Fails a test that leaves a lease open. Adds the leases
 * and waiters of the test to its failure.
 *
 * <pre>{@code
 * @ExtendWith(HoldfastExtension.class)
 * class ReportJobTest {
 *   @Test
 *   void stopsWhenItsLockIsLost(LockManager locks, ManualClock clock) {
 *     ReportJob job = ReportJob.begin(locks);
 *     clock.advance(Duration.ofSeconds(31));
 *     assertThrows(LockLostException.class, job::writePage);
 *   }
 * }
 * }</pre>
 *
 * <p>Constructors, tests and methods before and after them may take a {@link LockManager}, its
 * {@link MemoryStore} and its {@link ManualClock}. By default the locks are in memory, on a
 * {@linkplain ManualClock#running() running} clock. {@link #withUrl} and {@link #with} open other
 * managers.
 *
 * <p>The manager is opened when a parameter asks for it, and closed after the test. A manager that
 * a method before all tests asks for, or a constructor with the life cycle per class, serves all
 * tests of the class and of the classes nested in it. It is checked and closed after the class.
 * Safe for tests that run in parallel.
 */
public final class HoldfastExtension
    implements ParameterResolver,
        AfterEachCallback,
        AfterAllCallback,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {
  private static final Set<Class<?>> TYPES =
      Set.of(LockManager.class, MemoryStore.class, ManualClock.class);

  private final Supplier<? extends LockManager> opener;
  private final Namespace namespace = Namespace.create(HoldfastExtension.class, this);

  /**
   * Makes an extension with managers in memory, for {@link
   * org.junit.jupiter.api.extension.ExtendWith}.
   */
  public HoldfastExtension() {
    this(() -> MemoryLocks.builder().clock(ManualClock.running()).open());
  }

  private HoldfastExtension(Supplier<? extends LockManager> opener) {
    this.opener = opener;
  }

  /**
   * Returns an extension whose managers are opened by a URL, for {@link
   * org.junit.jupiter.api.extension.RegisterExtension}.
   *
   * @param url as for {@link LockManager#open(String)}. Tests that run in parallel share its locks
   * @return a new extension
   */
  public static HoldfastExtension withUrl(String url) {
    Objects.requireNonNull(url, "url");
    return new HoldfastExtension(() -> LockManager.open(url));
  }

  /**
   * Returns an extension with managers of the caller's own, for {@link
   * org.junit.jupiter.api.extension.RegisterExtension}.
   *
   * @param opener opens a new manager at each call. The extension closes it
   * @return a new extension
   */
  public static HoldfastExtension with(Supplier<? extends LockManager> opener) {
    return new HoldfastExtension(Objects.requireNonNull(opener, "opener"));
  }

  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return ExtensionContextScope.TEST_METHOD; // a constructor has the manager of its test
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return TYPES.contains(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return storeOf(context)
        .getOrComputeIfAbsent(TestLocks.class, key -> TestLocks.open(opener), TestLocks.class)
        .get(parameter.getParameter().getType());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    end(context);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    end(context);
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withLocks(context, failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withLocks(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withLocks(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withLocks(context, failure);
  }

  @Override
  public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withLocks(context, failure);
  }

  private Store storeOf(ExtensionContext context) {
    return context.getStore(namespace);
  }

  /** Ends the manager of this context, if it has one. That of an enclosing context stays. */
  private void end(ExtensionContext context) {
    @Nullable TestLocks locks = storeOf(context).remove(TestLocks.class, TestLocks.class);
    if (locks == null) {
      return;
    }
    try (locks) {
      if (context.getExecutionException().isEmpty()) {
        locks.requireNoLease();
      }
    }
  }

  private Throwable withLocks(ExtensionContext context, Throwable failure) {
    @Nullable TestLocks locks = storeOf(context).get(TestLocks.class, TestLocks.class);
    if (locks != null) {
      locks.describeTo(failure);
    }
    return failure;
  }
}
