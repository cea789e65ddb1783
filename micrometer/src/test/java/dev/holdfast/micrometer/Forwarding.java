package dev.holdfast.micrometer;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Function;

/** Fake managers and leases whose every method is answered by one function. */
final class Forwarding {
  private Forwarding() {}

  static LockManager manager(Function<Method, Object> answer) {
    return proxy(LockManager.class, answer);
  }

  static Lease lease(Function<Method, Object> answer) {
    return proxy(Lease.class, answer);
  }

  private static <T> T proxy(Class<T> type, Function<Method, Object> answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> answer.apply(method)));
  }
}
