package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A decorator of leases passes on all that it does not override. */
class LeaseDecoratorTest {
  private final List<String> calls = new ArrayList<>();

  private final Lease below = Recording.calls(Lease.class, calls);

  static Stream<Method> methods() {
    return Arrays.stream(Lease.class.getMethods());
  }

  @ParameterizedTest
  @MethodSource("methods")
  void eachMethodIsPassedOn(Method method) throws Exception {
    method.invoke(new Plain(below), new Object[method.getParameterCount()]);

    assertThat(calls).containsExactly(method.toString());
  }

  private record Plain(Lease decorated) implements LeaseDecorator {}
}
