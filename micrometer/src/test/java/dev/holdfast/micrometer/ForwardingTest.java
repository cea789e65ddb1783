package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each method of the decorators calls the same method below, also those that the API gets later.
 */
class ForwardingTest {
  private static final Set<String> OF_TASKS =
      Set.of("executeLocked", "runLocked", "tryExecuteLocked", "tryRunLocked");

  private final List<String> called = new ArrayList<>();
  private final Lease leaseBelow = Forwarding.lease(this::answer);
  private final LockManager below = Forwarding.manager(this::answer);
  private final LockManager observed =
      HoldfastObservations.observed(below, "m", ObservationRegistry.create());

  static Stream<Method> methodsOfManagers() {
    return Stream.of(LockManager.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> !OF_TASKS.contains(method.getName()))
        .filter(method -> !isShortForm(method));
  }

  /** Whether a method calls the one of the same name that takes a request. */
  private static boolean isShortForm(Method method) {
    return method.getName().matches("acquire|tryAcquire") && method.getParameterCount() == 2;
  }

  static Stream<Method> methodsOfLeases() {
    return Stream.of(Lease.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()));
  }

  @ParameterizedTest
  @MethodSource("methodsOfManagers")
  void aManagerPassesEachMethodOn(Method method) throws Exception {
    invoke(method, observed);

    assertThat(called).contains(signature(method));
  }

  @ParameterizedTest
  @MethodSource("methodsOfLeases")
  void aLeasePassesEachMethodOn(Method method) throws Exception {
    Lease lease = observed.acquire(LockRequest.of("a", Duration.ofSeconds(1)));
    called.clear();

    invoke(method, lease);

    assertThat(called).contains(signature(method));
  }

  @Test
  void tasksRunUnderALeaseOfTheDecorator() throws Exception {
    LockRequest request = LockRequest.of("a", Duration.ofSeconds(1));

    String name = observed.executeLocked(request, Lease::name);
    Optional<String> tried = observed.tryExecuteLocked(request, Lease::name);

    assertThat(name).isEqualTo("name");
    assertThat(tried).contains("name");
    assertThat(called).containsSubsequence("acquire[1]", "close[0]", "tryAcquire[1]", "close[0]");
  }

  /** Tells methods of one name apart by the number of their parameters. */
  private static String signature(Method method) {
    return method.getName() + "[" + method.getParameterCount() + "]";
  }

  private static void invoke(Method method, Object target) throws Exception {
    Object[] arguments =
        Stream.of(method.getParameterTypes()).map(ForwardingTest::argument).toArray();
    try {
      method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw new AssertionError(method + " failed", e.getCause());
    }
  }

  private static Object argument(Class<?> type) {
    if (type == LockRequest.class) {
      return LockRequest.of("a", Duration.ofSeconds(1));
    }
    if (type == Duration.class) {
      return Duration.ofSeconds(1);
    }
    if (type == String.class) {
      return "a";
    }
    if (type == LockListener.class) {
      return new LockListener() {};
    }
    if (type == Class.class) {
      return Object.class;
    }
    throw new AssertionError("no argument for " + type + ": add one");
  }

  private Object answer(Method method) {
    called.add(signature(method));
    Class<?> type = method.getReturnType();
    return switch (method.getName()) {
      case "tryAcquire" -> Optional.of(leaseBelow);
      case "tryAcquireAsync" -> CompletableFuture.completedFuture(Optional.of(leaseBelow));
      case "acquire", "adopt" -> leaseBelow;
      case "adoptAsync" -> CompletableFuture.completedFuture(leaseBelow);
      case "onLoss" -> new CompletableFuture<LossReason>();
      case "releaseAsync" -> CompletableFuture.completedFuture(true);
      case "transferAsync" -> CompletableFuture.completedFuture("text");
      default -> ofType(type, method.getName());
    };
  }

  @SuppressWarnings("NullAway")
  private static Object ofType(Class<?> type, String name) {
    if (type == String.class) {
      return name;
    }
    if (type == boolean.class) {
      return true;
    }
    if (type == Optional.class) {
      return Optional.empty();
    }
    if (type == OptionalLong.class) {
      return OptionalLong.empty();
    }
    if (type == Duration.class) {
      return Duration.ZERO;
    }
    if (type == List.class) {
      return List.of();
    }
    if (type == Set.class) {
      return Set.of();
    }
    return type == CompletableFuture.class ? new CompletableFuture<>() : null;
  }
}
