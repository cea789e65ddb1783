package dev.holdfast;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The root of what can go wrong with a lock. Exactly one of its four kinds is thrown, so that
 * contention, outage, loss and misconfiguration are never confused.
 *
 * <p>Every exception is serializable. A cause that cannot be serialized is replaced in the copy by
 * a description of it.
 */
public abstract sealed class LockException extends RuntimeException
    permits LockContendedException,
        LockOutageException,
        LockLostException,
        LockConfigurationException {
  private static final long serialVersionUID = 1L;

  LockException(@Nullable String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * Copies this exception for the thread that throws it: a failure is often seen on another thread
   * than that of the caller. For managers whose calls wait for a result.
   *
   * @return the same kind, message, causes and suppressed exceptions, with the stack trace of this
   *     call
   */
  public final LockException fromHere() {
    LockException copy = copyWithSuppressed(UnaryOperator.identity());
    String own = LockException.class.getName();
    copy.setStackTrace(
        Arrays.stream(copy.getStackTrace())
            .dropWhile(
                frame ->
                    frame.getClassName().equals(own)
                        || frame.getClassName().equals(getClass().getName()))
            .toArray(StackTraceElement[]::new));
    return copy;
  }

  /** Returns a copy with other causes, and the stack trace of this call. */
  abstract LockException copy(UnaryOperator<Throwable> causes);

  /** Replaces this exception in a stream of objects. */
  final Object writeReplace() {
    LockException copy = copyWithSuppressed(SerializableCause::of);
    copy.setStackTrace(getStackTrace());
    return copy;
  }

  final @Nullable Throwable cause(UnaryOperator<Throwable> causes) {
    Throwable cause = getCause();
    return cause == null ? null : causes.apply(cause);
  }

  private LockException copyWithSuppressed(UnaryOperator<Throwable> causes) {
    IdentityHashMap<Throwable, Throwable> copied =
        new IdentityHashMap<>(); // a cause may be there twice
    UnaryOperator<Throwable> once = cause -> copied.computeIfAbsent(cause, causes);
    LockException copy = copy(once);
    for (Throwable suppressed : getSuppressed()) {
      copy.addSuppressed(once.apply(suppressed));
    }
    return copy;
  }
}
