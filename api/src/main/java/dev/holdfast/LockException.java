package dev.holdfast;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A failure of a lock. Each failure is exactly one of four kinds, so that contention, outage, loss
 * and misconfiguration are never confused.
 *
 * <p>Every exception is serializable. In the copy, a description replaces each cause that cannot be
 * serialized.
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
   * Copies this exception for the thread that throws it, because a failure often occurs on another
   * thread than the caller's. Managers whose calls wait for a result use it.
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
