package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The kind of a method's result.
 *
 * @param isStage whether the work lasts until a returned stage ends
 * @param isOptional whether no result is an empty Optional
 */
record LockedReturn(boolean isStage, boolean isOptional) {
  /**
   * Classifies the result of a method.
   *
   * @param skips whether the method can return without a result
   * @throws LockConfigurationException if work of this type outlasts the call in a way that is not
   *     known here, or if a primitive result cannot be absent
   */
  static LockedReturn of(Method method, boolean skips) {
    Class<?> type = method.getReturnType();
    if (skips && type.isPrimitive() && type != void.class) {
      throw new LockConfigurationException(
          "whenHeld = SKIP returns null, but the result is "
              + type
              + "; return an Optional or the type's wrapper, or use THROW");
    }
    if (type == CompletionStage.class || type == CompletableFuture.class) {
      Class<?> value = ResolvableType.forMethodReturnType(method).getGeneric(0).resolve();
      return new LockedReturn(true, value == Optional.class);
    }
    if (isAsynchronous(type)) {
      throw new LockConfigurationException(
          "the work of a "
              + type.getName()
              + " goes on after the call, and its end is not known; return a CompletableFuture");
    }
    return new LockedReturn(false, type == Optional.class);
  }

  private static boolean isAsynchronous(Class<?> type) {
    return Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || BaseStream.class.isAssignableFrom(type)
        || Flow.Publisher.class.isAssignableFrom(type)
        || isPublisher(type)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
  }

  /** Compares by name: Reactive Streams may be absent. */
  private static boolean isPublisher(Class<?> type) {
    return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
        .anyMatch(each -> each.getName().equals("org.reactivestreams.Publisher"));
  }

  /** Returns the result of a call that was skipped. */
  @Nullable Object skipped() {
    Object value = isOptional ? Optional.empty() : null;
    return isStage ? CompletableFuture.completedFuture(value) : value;
  }
}
