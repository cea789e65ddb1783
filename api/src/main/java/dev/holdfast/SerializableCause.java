package dev.holdfast;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The description of a cause that cannot be serialized, because a driver's exception refers to its
 * connection, for example. It prints as the cause did, with the same stack trace.
 */
final class SerializableCause extends Exception {
  private static final long serialVersionUID = 1L;

  /** The cause that this thread tries to serialize. */
  private static final ThreadLocal<@Nullable Throwable> TRYING = new ThreadLocal<>();

  private final String description;

  private SerializableCause(Throwable described, @Nullable Throwable cause) {
    super(described.getMessage(), cause);
    this.description = described.toString();
    setStackTrace(described.getStackTrace());
  }

  /** Returns the cause itself if it can be serialized, else its description. */
  static Throwable of(Throwable cause) {
    return isSerializable(cause)
        ? cause
        : describe(cause, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  @Override
  @SuppressWarnings("OverrideThrowableToString") // the message stays that of the cause
  public String toString() {
    return description;
  }

  private static SerializableCause describe(Throwable described, Set<Throwable> seen) {
    seen.add(described);
    Throwable cause = described.getCause();
    return new SerializableCause(
        described, cause == null || seen.contains(cause) ? null : describe(cause, seen));
  }

  private static boolean isSerializable(Throwable cause) {
    if (TRYING.get() != null) {
      return false; // causes that go round in a circle would be tried forever
    }
    TRYING.set(cause);
    try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
      out.writeObject(cause);
      return true;
    } catch (IOException | RuntimeException | StackOverflowError notSerializable) {
      return false;
    } finally {
      TRYING.remove();
    }
  }
}
