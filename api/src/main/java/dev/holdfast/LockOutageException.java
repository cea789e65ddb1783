package dev.holdfast;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An outage: no quorum of nodes answered, or could vote. It names every node that did not, and why.
 * Or nobody was asked, because this process has too much under way; then it names none. Trying
 * again later may help.
 */
public final class LockOutageException extends LockException {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // a LinkedHashMap in an unmodifiable wrapper: both are serializable
  private final Map<String, Throwable> failures;

  private final boolean outcomeUnknown;

  /**
   * Says that no quorum answered. The message is completed with every node and its cause; the first
   * cause is the exception's own, the others are suppressed ones.
   *
   * @param message what was tried, and how many nodes answered of how many
   * @param failures each node that gave no answer, as {@code host:port}, with its cause; the order
   *     is kept
   * @param outcomeUnknown whether what was tried may have happened anyway
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
   * The nodes that gave no answer, or none that counts.
   *
   * @return each node, as {@code host:port}, with its cause; empty if none was asked; unmodifiable
   */
  public Map<String, Throwable> failures() {
    return failures;
  }

  /**
   * Whether what was tried may have happened anyway. A failed acquire is never unknown: its keys
   * are released. A release or an extension whose answers did not come may have taken effect.
   *
   * @return true if nobody can say
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
