package dev.holdfast.testsupport;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Fakes of interfaces that have more methods than a test needs. */
public final class Fakes {
  private Fakes() {}

  /** Returns a fake whose every method a handler answers. */
  public static <T> T of(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
