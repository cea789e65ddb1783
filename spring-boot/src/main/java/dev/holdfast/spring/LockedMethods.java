package dev.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

/** The methods with {@link Locked} that were found so far. Safe for use by many threads. */
final class LockedMethods {
  private final LockedSettings settings;
  private final Map<MethodClassKey, LockedMethod> known = new ConcurrentHashMap<>();

  LockedMethods(LockedSettings settings) {
    this.settings = settings;
  }

  /** Finds the methods of a class, also those that a proxy does not see. */
  Collection<LockedMethod> in(Class<?> type) {
    MethodIntrospector.MetadataLookup<@Nullable LockedMethod> lookup =
        method -> find(method, type).orElse(null);
    return MethodIntrospector.selectMethods(type, lookup).values();
  }

  /**
   * Returns whether a method has the annotation, without reading it: ahead-of-time processing asks
   * when the values of placeholders are not known.
   */
  static boolean isLocked(Method method, Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, Locked.class)
        && AnnotatedElementUtils.hasAnnotation(
            AopUtils.getMostSpecificMethod(method, type), Locked.class);
  }

  /** Finds any method of a class that has the annotation, without reading it. */
  static Optional<Method> anyIn(Class<?> type) {
    return MethodIntrospector.selectMethods(
            type, (ReflectionUtils.MethodFilter) method -> isLocked(method, type))
        .stream()
        .findFirst();
  }

  /** Finds the annotation of the method that is called. */
  Optional<LockedMethod> find(MethodInvocation invocation) {
    Object target = invocation.getThis();
    Method method = invocation.getMethod();
    return find(
        method, target == null ? method.getDeclaringClass() : AopUtils.getTargetClass(target));
  }

  /** Finds the annotation of a method, of the method that it overrides, or of an interface. */
  Optional<LockedMethod> find(Method method, Class<?> type) {
    if (!AnnotationUtils.isCandidateClass(type, Locked.class)) {
      return Optional.empty();
    }
    MethodClassKey key = new MethodClassKey(method, type);
    LockedMethod before = known.get(key);
    if (before != null) {
      return Optional.of(before);
    }
    Method specific = AopUtils.getMostSpecificMethod(method, type);
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(specific, Locked.class);
    return locked
            == null // nothing is kept, because at the start all methods of all beans are asked
        ? Optional.empty()
        : Optional.of(
            known.computeIfAbsent(key, absent -> LockedMethod.of(specific, locked, settings)));
  }
}
