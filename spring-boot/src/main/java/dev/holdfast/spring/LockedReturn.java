package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * The result of a method.
 *
 * @param kind how the end of the work is seen
 * @param isOptional whether no result is an empty Optional
 */
record LockedReturn(Kind kind, boolean isOptional) {
  private static final String LOCKS = "dev.holdfast.reactor.ReactiveLocks";
  private static final @Nullable Class<?> PUBLISHER = find("org.reactivestreams.Publisher");
  private static final String RESPONSE = "org.springframework.http.HttpEntity";

  private static final Set<Class<?>> OF_PRIMITIVES =
      Set.of(OptionalInt.class, OptionalLong.class, OptionalDouble.class);

  /** Types whose work begins after the call, by name, because the libraries may be absent. */
  private static final Set<String> LATER =
      Set.of(
          "java.util.concurrent.Callable",
          "org.reactivestreams.Publisher",
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  /** The event at which the work has ended. */
  enum Kind {
    /** The return of the method. */
    VALUE,
    /** The end of the returned stage. */
    STAGE,
    /** The end, the failure or the cancellation of the returned Mono. */
    MONO,
    /** The end, the failure or the cancellation of the returned Flux. */
    FLUX;

    /** Returns whether the work begins when a subscriber requests it. */
    boolean isReactive() {
      return this == MONO || this == FLUX;
    }
  }

  /**
   * Classifies the result of a method.
   *
   * @param skips whether the method can return without a result
   * @param loader finds {@code holdfast-reactor}, if it is there
   * @throws LockConfigurationException if work of this type outlasts the call in a way that is not
   *     known here, or if a primitive result cannot be absent
   */
  static LockedReturn of(Method method, boolean skips, @Nullable ClassLoader loader) {
    Class<?> type = method.getReturnType();
    if (isCoroutine(method)) {
      throw goesOn("coroutine");
    }
    Kind kind = kindOf(type);
    ResolvableType result = ResolvableType.forMethodReturnType(method);
    ResolvableType value = kind == Kind.VALUE ? result : result.getGeneric(0);
    requirePlain(value);
    if (skips && !kind.isReactive()) {
      requireNullable(value.resolve(Object.class));
    }
    if (kind.isReactive()) {
      requireReactor(type, loader);
    }
    return new LockedReturn(kind, !kind.isReactive() && value.resolve() == Optional.class);
  }

  private static void requireNullable(Class<?> value) {
    boolean cannotBeNull = value.isPrimitive() || OF_PRIMITIVES.contains(value);
    if (cannotBeNull && value != void.class) {
      throw new LockConfigurationException(
          "whenHeld = SKIP returns null, but the result is "
              + value.getSimpleName()
              + "; return an Optional or the type's wrapper, or use THROW");
    }
  }

  private static Kind kindOf(Class<?> type) {
    return switch (type.getName()) {
      case "java.util.concurrent.CompletionStage", "java.util.concurrent.CompletableFuture" ->
          Kind.STAGE;
      case "reactor.core.publisher.Mono" -> Kind.MONO;
      case "reactor.core.publisher.Flux" -> Kind.FLUX;
      default -> Kind.VALUE;
    };
  }

  /** Refuses a value whose work goes on when it is there, also in a response. */
  private static void requirePlain(ResolvableType value) {
    Class<?> type = value.resolve(Object.class);
    if (isA(RESPONSE::equals, type)) {
      requirePlain(value.getGeneric(0));
    } else if (isAsynchronous(type)) {
      throw goesOn(type.getName());
    }
  }

  private static LockConfigurationException goesOn(String work) {
    return new LockConfigurationException(
        "the work of a "
            + work
            + " goes on after the call, and the end of the work is not known; return a CompletableFuture, a"
            + " Mono or a Flux of plain values");
  }

  private static void requireReactor(Class<?> type, @Nullable ClassLoader loader) {
    if (!ClassUtils.isPresent(LOCKS, loader)) {
      throw new LockConfigurationException(
          "the result is a "
              + type.getSimpleName()
              + ", and holdfast-reactor is not on the class path; add the dependency"
              + " dev.holdfast:holdfast-reactor");
    }
  }

  private static boolean isAsynchronous(Class<?> type) {
    return Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || BaseStream.class.isAssignableFrom(type)
        || Flow.Publisher.class.isAssignableFrom(type)
        || isA(LATER::contains, type)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
  }

  /** Tells whether a class, or one above it, has a name. */
  private static boolean isA(Predicate<String> name, @Nullable Class<?> type) {
    return type != null
        && (name.test(type.getName())
            || isA(name, type.getSuperclass())
            || Stream.of(type.getInterfaces()).anyMatch(each -> isA(name, each)));
  }

  /**
   * Returns whether a value is a publisher, of the JDK or of Reactive Streams if they are there.
   */
  static boolean isPublisher(@Nullable Object value) {
    return value instanceof Flow.Publisher<?> || (PUBLISHER != null && PUBLISHER.isInstance(value));
  }

  private static @Nullable Class<?> find(String type) {
    try {
      return Class.forName(type, false, LockedReturn.class.getClassLoader());
    } catch (ClassNotFoundException absent) {
      return null;
    }
  }

  /** Finds the last parameter that the compiler of Kotlin adds to functions that suspend. */
  private static boolean isCoroutine(Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return parameters.length > 0
        && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
  }

  /** Returns whether the work lasts until a returned stage ends. */
  boolean isStage() {
    return kind == Kind.STAGE;
  }

  /** Returns whether the work begins when a subscriber requests it. */
  boolean isReactive() {
    return kind.isReactive();
  }

  /** Returns the result of a call that was skipped. */
  @Nullable Object skipped() {
    Object value = isOptional ? Optional.empty() : null;
    return isStage() ? CompletableFuture.completedFuture(value) : value;
  }
}
