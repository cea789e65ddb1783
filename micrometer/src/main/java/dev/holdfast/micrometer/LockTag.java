package dev.holdfast.micrometer;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The value of the tag {@code lock}, by a function that users give. */
final class LockTag {
  static final String KEY = "lock";

  private static final Logger LOG = System.getLogger(HoldfastMetrics.class.getName());
  private static final String UNKNOWN = "unknown";

  /** No value, for meters without this tag. */
  static final String NONE = "";

  private final @Nullable Function<String, String> function;
  private final AtomicBoolean hasFailed = new AtomicBoolean();

  private LockTag(@Nullable Function<String, String> function) {
    this.function = function;
  }

  static LockTag of(@Nullable Function<String, String> function) {
    return new LockTag(function);
  }

  boolean isUsed() {
    return function != null;
  }

  /** Returns the value for a lock, or {@link #NONE} if the tag is not used. Throws nothing. */
  String valueOf(String lock) {
    if (function == null) {
      return NONE;
    }
    try {
      String value = function.apply(lock);
      return value == null || value.isEmpty() ? UNKNOWN : value;
    } catch (RuntimeException e) {
      if (!hasFailed.getAndSet(true)) {
        LOG.log(
            Level.WARNING,
            "the function for the tag 'lock' failed, and the tag is 'unknown': correct the function",
            e);
      }
      return UNKNOWN;
    }
  }
}
