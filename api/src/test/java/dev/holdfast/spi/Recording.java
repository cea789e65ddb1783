package dev.holdfast.spi;

import dev.holdfast.testsupport.Fakes;
import java.util.List;

/** Objects that record their calls, and answer true, nothing or null. */
final class Recording {
  private Recording() {}

  /** Returns an object that adds the method of each call to {@code calls}. */
  static <T> T calls(Class<T> type, List<String> calls) {
    return Fakes.of(
        type,
        (self, method, arguments) -> {
          calls.add(method.toString());
          return method.getReturnType() == boolean.class ? true : null;
        });
  }
}
