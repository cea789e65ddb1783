package dev.holdfast;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An outage: no quorum of nodes answered, or could vote. The exception names every node that did
 * not, with the cause. It names none if no node was asked, because this process has too many
 * operations in flight. Another try may help later.
 */
public final class LockOutageException extends LockException {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // a LinkedHashMap in an unmodifiable wrapper: both are serializable
  private final Map<String, Throwable> failures;

  private final boolean outcomeUnknown;

  /**
   * Creates an exception whose message is completed with every node and its cause. The first cause
   * is the exception's cause, and the others are suppressed exceptions.
   *
   * @param message the operation, and how many nodes answered of how many
   * @param failures each node that gave no answer, as {@code host:port}, with its cause, in the
   *     order of the nodes
   * @param outcomeUnknown whether the operation may have taken effect anyway
   */
  public LockOutageException(
      String message, Map<String, ? extends Throwable> failures, boolean outcomeUnknown) {
    super(
        message + describe(failures),
        failures.isEmpty() ? null : failures.values().iterator().next());
    this.failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
    this.outcomeUnknown = outcomeUnknown;
    failures.values().stream().skip(1).forEach(this::addSuppressed);
  }

  private LockOutageException(
      @Nullable String message,
      @Nullable Throwable cause,
      Map<String, Throwable> failures,
      boolean outcomeUnknown) {
    super(message, cause);
    this.failures = Collections.unmodifiableMap(failures);
    this.outcomeUnknown = outcomeUnknown;
  }

  @Override
  LockOutageException copy(UnaryOperator<Throwable> causes) {
    Map<String, Throwable> copied = new LinkedHashMap<>();
    failures.forEach((node, failure) -> copied.put(node, causes.apply(failure)));
    return new LockOutageException(getMessage(), cause(causes), copied, outcomeUnknown);
  }

  /**
   * Returns the nodes that gave no answer, or none that counts.
   *
   * @return each node, as {@code host:port}, with its cause, in an unmodifiable map that is empty
   *     if none was asked
   */
  public Map<String, Throwable> failures() {
    return failures;
  }

  /**
   * Returns whether the operation may have taken effect anyway. The outcome of a failed acquire is
   * never unknown: its keys are released. A release or an extension whose answers did not come may
   * have taken effect.
   *
   * @return true if the outcome is not known
   */
  public boolean isOutcomeUnknown() {
    return outcomeUnknown;
  }

  private static String describe(Map<String, ? extends Throwable> failures) {
    return failures.entrySet().stream()
        .map(f -> f.getKey() + ": " + reason(f.getValue()))
        .collect(Collectors.joining("; ", failures.isEmpty() ? "" : ": ", ""));
  }

  private static String reason(Throwable cause) {
    String message = cause.getMessage();
    return message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
  }
}
