package dev.holdfast.redlock.jedis;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Threads that may do input and output. */
final class Threads {
  /** {@code Thread.isVirtual}, where there is one. */
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

  private Threads() {}

  /** An interrupt closes the socket that a virtual thread reads from. */
  static boolean mayUseSockets(Thread thread) {
    if (IS_VIRTUAL == null) {
      return true;
    }
    try {
      return !(boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable MethodHandle isVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
