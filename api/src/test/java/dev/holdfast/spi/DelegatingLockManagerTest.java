package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each call of a decorator that overrides nothing reaches the manager below. */
class DelegatingLockManagerTest {
  private static final LockRequest REQUEST = LockRequest.of("a", Duration.ofSeconds(1));

  private static final Map<Class<?>, Object> ARGUMENTS =
      Map.of(
          String.class,
          "text",
          Duration.class,
          Duration.ofSeconds(2),
          LockRequest.class,
          REQUEST,
          LockListener.class,
          new LockListener() {},
          Class.class,
          LockManager.class);

  /** The methods that run a task. They acquire by the decorator, which may decorate the lease. */
  private static final Set<String> OF_THE_DECORATOR =
      Set.of("executeLocked", "tryExecuteLocked", "runLocked", "tryRunLocked");

  private final List<Object> reached = new ArrayList<>();
  private final LockManager below =
      (LockManager)
          Proxy.newProxyInstance(
              LockManager.class.getClassLoader(),
              new Class<?>[] {LockManager.class},
              (proxy, method, arguments) -> {
                reached.add(call(method, arguments));
                return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
              });
  private final LockManager decorator = new DelegatingLockManager(below) {};

  static Stream<Method> methods() {
    return Arrays.stream(LockManager.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> !OF_THE_DECORATOR.contains(method.getName()))
        .filter(method -> !isShortForm(method));
  }

  /** Takes a name and a ttl, in the place of a request. */
  private static boolean isShortForm(Method method) {
    return Arrays.equals(method.getParameterTypes(), new Class<?>[] {String.class, Duration.class});
  }

  @ParameterizedTest
  @MethodSource("methods")
  void aCallIsPassedOnWithItsArguments(Method method) throws Exception {
    Object[] arguments = Arrays.stream(method.getParameterTypes()).map(ARGUMENTS::get).toArray();
    assertThat(arguments).as("the arguments of this test").doesNotContainNull();

    Object result = method.invoke(decorator, arguments);

    assertThat(reached).containsExactly(call(method, arguments));
    if (method.getReturnType() == boolean.class) {
      assertThat(result).isEqualTo(true);
    }
  }

  @Test
  void shortFormsAskTheDecorator() throws InterruptedException {
    decorator.tryAcquire("a", Duration.ofSeconds(1));
    decorator.acquire("a", Duration.ofSeconds(1));
    assertThat(reached)
        .containsExactly(
            List.of("tryAcquire", List.of(REQUEST)), List.of("acquire", List.of(REQUEST)));
  }

  private static List<Object> call(Method method, Object[] arguments) {
    return List.of(method.getName(), arguments == null ? List.of() : List.of(arguments));
  }
}
