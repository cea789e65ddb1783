package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Fakes;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A decorator of managers passes on all that gives no lease. */
class LockManagerDecoratorTest {
  /** The methods that give leases, and those that are made of them. */
  private static final Set<String> OF_LEASES =
      Set.of(
          "tryAcquire",
          "acquire",
          "tryAcquireAsync",
          "adopt",
          "adoptAsync",
          "executeLocked",
          "runLocked",
          "tryExecuteLocked",
          "tryRunLocked");

  private final List<String> calls = new ArrayList<>();

  private final LockManager below =
      Fakes.of(
          LockManager.class,
          (self, method, arguments) -> {
            calls.add(method.toString());
            return method.getReturnType() == boolean.class ? true : null;
          });

  static Stream<Method> methodsThatGiveNoLease() {
    return Arrays.stream(LockManager.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> !OF_LEASES.contains(method.getName()));
  }

  @ParameterizedTest
  @MethodSource("methodsThatGiveNoLease")
  void itIsPassedOn(Method method) throws Exception {
    method.invoke(new Plain(below), new Object[method.getParameterCount()]);

    assertThat(calls).containsExactly(method.toString());
  }

  private record Plain(LockManager decorated) implements LockManagerDecorator {
    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      return decorated.tryAcquire(request);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      return decorated.acquire(request);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return decorated.tryAcquireAsync(request);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      return decorated.adopt(text, request);
    }

    @Override
    public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
      return decorated.adoptAsync(text, request);
    }
  }
}
