package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.convert.DurationStyle;

/** A method with {@link Locked}, checked and parsed once. Safe for use by many threads. */
final class LockedMethod {
  private final Method method;
  private final LockName name;
  private final LockRequest limits;
  private final LockedReturn result;
  private final boolean skips;
  private final boolean failsInTransaction;
  private final String manager;

  private LockedMethod(Method method, Locked locked, LockedSettings settings) {
    this.method = method;
    requireVisibleToProxies(method);
    skips = locked.whenHeld() == Locked.WhenHeld.SKIP;
    result = LockedReturn.of(method, skips, settings.beans().getBeanClassLoader());
    name = LockName.parse(settings.resolve(locked.name()), method, settings);
    limits = limits(locked, settings);
    failsInTransaction = locked.onTransaction() == Locked.OnTransaction.FAIL;
    manager = settings.resolve(locked.manager());
  }

  /**
   * Checks and parses the annotation of a method.
   *
   * @throws LockConfigurationException with the name of the method, if it cannot be run under a
   *     lock as the annotation says
   */
  static LockedMethod of(Method method, Locked locked, LockedSettings settings) {
    try {
      return new LockedMethod(method, locked, settings);
    } catch (LockConfigurationException | IllegalArgumentException e) {
      throw new LockConfigurationException(
          "@Locked on " + describe(method) + ": " + e.getMessage(), e);
    }
  }

  private static void requireVisibleToProxies(Method method) {
    int modifiers = method.getModifiers();
    if (Modifier.isPrivate(modifiers)
        || Modifier.isStatic(modifiers)
        || Modifier.isFinal(modifiers)) {
      throw new LockConfigurationException(
          "a proxy sees no private, static or final method, and no lock would be taken; make the"
              + " method public and not final");
    }
  }

  private static LockRequest limits(Locked locked, LockedSettings settings) {
    String ttl = settings.resolve(locked.ttl());
    LockRequest limits =
        LockRequest.of("name", duration("ttl", ttl.isEmpty() ? settings.ttl() : ttl))
            .waitAtMost(duration("waitAtMost", settings.resolve(locked.waitAtMost())))
            .holdAtLeast(duration("holdAtLeast", settings.resolve(locked.holdAtLeast())));
    String keepAlive = settings.resolve(locked.keepAliveUpTo());
    return keepAlive.isEmpty()
        ? limits
        : limits.keepAliveUpTo(duration("keepAliveUpTo", keepAlive));
  }

  private static Duration duration(String attribute, String text) {
    try {
      return DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException e) {
      throw new LockConfigurationException(
          attribute + " is '" + text + "', which is no duration; write 10s or PT10S", e);
    }
  }

  /** Returns whether a call of a method of a proxy runs this method. */
  boolean isCalledBy(Method ofProxy, Class<?> target) {
    return AopUtils.getMostSpecificMethod(ofProxy, target).equals(method);
  }

  static String describe(Method method) {
    return method.getDeclaringClass().getName() + "." + method.getName();
  }

  @Override
  public String toString() {
    return describe(method);
  }

  /** Evaluates the name for a call, and builds the request. */
  LockRequest request(@Nullable Object target, @Nullable Object[] arguments) {
    LockRequest request =
        LockRequest.of(name.evaluate(target, arguments), limits.ttl())
            .waitAtMost(limits.waitAtMost().orElse(Duration.ZERO))
            .holdAtLeast(limits.holdAtLeast());
    return limits.keepAliveUpTo().map(request::keepAliveUpTo).orElse(request);
  }

  /**
   * Checks whether a manager serves the durations of the annotation.
   *
   * @throws LockConfigurationException with the name of the method, if the manager does not
   */
  void requireServedBy(LockManager manager) {
    try {
      manager.check(limits);
    } catch (LockConfigurationException e) {
      throw new LockConfigurationException("@Locked on " + this + ": " + e.getMessage(), e);
    }
  }

  LockedReturn result() {
    return result;
  }

  boolean skips() {
    return skips;
  }

  /**
   * Checks whether the method may be called inside a transaction.
   *
   * @throws IllegalStateException if the annotation says FAIL
   */
  void requireNoFailInTransaction(String lock) {
    if (failsInTransaction) {
      throw new IllegalStateException(
          "@Locked(onTransaction = FAIL) on "
              + this
              + " was called inside a transaction, and '"
              + lock
              + "' was not locked; call it before the transaction begins, or use HOLD");
    }
  }

  /** Returns the name of the manager's bean, or empty for the only or primary one. */
  String manager() {
    return manager;
  }

  boolean declaresInterrupts() {
    for (Class<?> type : method.getExceptionTypes()) {
      if (type.isAssignableFrom(InterruptedException.class)) {
        return true;
      }
    }
    return false;
  }
}
