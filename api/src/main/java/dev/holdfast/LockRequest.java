package dev.holdfast;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lock of a {@link LockManager}: an immutable value. Every method that changes a
 * part returns a new request.
 *
 * <pre>{@code
 * LockRequest.of("reindex", Duration.ofSeconds(30))
 *     .waitAtMost(Duration.ofSeconds(5))
 *     .keepAliveUpTo(Duration.ofHours(2));
 * }</pre>
 */
@CheckReturnValue
public final class LockRequest {
  /** A name may be of this many bytes in UTF-8; it is a key in Redis, and stands in messages. */
  private static final int MAX_NAME_BYTES = 1024;

  /** A label is for people to read. */
  private static final int MAX_OWNER_BYTES = 256;

  /** Nothing but an operator ends a hold before its time, so a mistake must not last for long. */
  private static final Duration LONGEST_HOLD_AT_LEAST = Duration.ofHours(24);

  private final String name;
  private final Duration ttl;
  private final @Nullable Duration waitAtMost;
  private final @Nullable Duration keepAliveUpTo;
  private final Duration holdAtLeast;
  private final @Nullable String ownerLabel;

  private LockRequest(
      String name,
      Duration ttl,
      @Nullable Duration waitAtMost,
      @Nullable Duration keepAliveUpTo,
      Duration holdAtLeast,
      @Nullable String ownerLabel) {
    this.name = name;
    this.ttl = ttl;
    this.waitAtMost = waitAtMost;
    this.keepAliveUpTo = keepAliveUpTo;
    this.holdAtLeast = holdAtLeast;
    this.ownerLabel = ownerLabel;
  }

  /**
   * Asks for a lock. Without more, {@link LockManager#tryAcquire(LockRequest)} makes one attempt,
   * {@link LockManager#acquire(LockRequest)} waits until it has the lock, and the lease is not
   * renewed.
   *
   * @param name 1 byte to 1 KiB in UTF-8; taken as it is, neither trimmed nor folded
   * @param ttl how long the lock may outlive a holder that dies; above zero. A manager asks for
   *     more than what it allows for drift, and up to its {@code maxTtl}
   * @return the request
   * @throws LockConfigurationException if the name or the ttl is out of range
   */
  public static LockRequest of(String name, Duration ttl) {
    requireText("name of a lock", name, MAX_NAME_BYTES);
    requirePositive("ttl", ttl);
    return new LockRequest(name, ttl, null, null, Duration.ZERO, null);
  }

  /**
   * Waits for the lock while others hold it. No attempt starts after this time, and none that is
   * under way is cut short: in an outage it may take the manager's {@code quorumTimeout} longer,
   * once.
   *
   * @param wait zero for a single attempt; not negative
   * @return a new request
   * @throws LockConfigurationException if it is negative
   */
  public LockRequest waitAtMost(Duration wait) {
    requireNotNegative("waitAtMost", wait);
    return new LockRequest(name, ttl, wait, keepAliveUpTo, holdAtLeast, ownerLabel);
  }

  /**
   * Waits for the lock until it is got, or the thread is interrupted.
   *
   * @return a new request
   */
  public LockRequest waitForever() {
    return waitAtMost(ChronoUnit.FOREVER.getDuration());
  }

  /**
   * Has the lease renewed in the background, every third of the ttl, until this long after it was
   * granted; then it ends with {@link LossReason#MAX_HOLD}. The Redlock page asks that renewals be
   * limited, so that a holder that hangs does not hold for ever.
   *
   * @param keepAliveUpTo at least the ttl
   * @return a new request
   * @throws LockConfigurationException if it is below the ttl
   */
  public LockRequest keepAliveUpTo(Duration keepAliveUpTo) {
    requirePositive("keepAliveUpTo", keepAliveUpTo);
    if (keepAliveUpTo.compareTo(ttl) < 0) {
      throw new LockConfigurationException(
          "keepAliveUpTo "
              + keepAliveUpTo
              + " is below the ttl "
              + ttl
              + ": give at least the ttl");
    }
    return new LockRequest(name, ttl, waitAtMost, keepAliveUpTo, holdAtLeast, ownerLabel);
  }

  /**
   * Keeps other owners out for at least this long from the grant, even if the lease is released
   * sooner: a release then sets the lock's life to what is left of it, which may be more than the
   * ttl. A holder that dies or loses the lock keeps others out for the ttl only. For short jobs
   * that several machines start at the same time of day, whose clocks are not quite equal.
   *
   * @param holdAtLeast zero to 24 hours
   * @return a new request
   * @throws LockConfigurationException if it is negative or above 24 hours
   */
  public LockRequest holdAtLeast(Duration holdAtLeast) {
    requireNotNegative("holdAtLeast", holdAtLeast);
    if (holdAtLeast.compareTo(LONGEST_HOLD_AT_LEAST) > 0) {
      throw new LockConfigurationException(
          "holdAtLeast is "
              + holdAtLeast
              + ": give at most 24 hours, and use a scheduler for rarer jobs");
    }
    return new LockRequest(name, ttl, waitAtMost, keepAliveUpTo, holdAtLeast, ownerLabel);
  }

  /**
   * Says who holds, for people who inspect the lock. It does not tell owners apart: tokens do.
   *
   * @param label 1 to 256 bytes in UTF-8; default {@code host:pid}
   * @return a new request
   * @throws LockConfigurationException if it is empty or too long
   */
  public LockRequest ownerLabel(String label) {
    requireText("owner label", label, MAX_OWNER_BYTES);
    return new LockRequest(name, ttl, waitAtMost, keepAliveUpTo, holdAtLeast, label);
  }

  /**
   * The name of the lock.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * How long the lock may outlive a holder that dies.
   *
   * @return above zero
   */
  public Duration ttl() {
    return ttl;
  }

  /**
   * How long to wait for the lock.
   *
   * @return empty if nothing was said; {@link ChronoUnit#FOREVER}'s duration for {@link
   *     #waitForever()}
   */
  public Optional<Duration> waitAtMost() {
    return Optional.ofNullable(waitAtMost);
  }

  /**
   * How long the lease may be renewed, from its grant.
   *
   * @return empty if it is not renewed
   */
  public Optional<Duration> keepAliveUpTo() {
    return Optional.ofNullable(keepAliveUpTo);
  }

  /**
   * How long others are kept out at least, from the grant.
   *
   * @return zero if nothing was said
   */
  public Duration holdAtLeast() {
    return holdAtLeast;
  }

  /**
   * The holder's label.
   *
   * @return empty for the default
   */
  public Optional<String> ownerLabel() {
    return Optional.ofNullable(ownerLabel);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockRequest that
        && name.equals(that.name)
        && ttl.equals(that.ttl)
        && Objects.equals(waitAtMost, that.waitAtMost)
        && Objects.equals(keepAliveUpTo, that.keepAliveUpTo)
        && holdAtLeast.equals(that.holdAtLeast)
        && Objects.equals(ownerLabel, that.ownerLabel);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, ttl, waitAtMost, keepAliveUpTo, holdAtLeast, ownerLabel);
  }

  @Override
  public String toString() {
    return "LockRequest[name="
        + name
        + ", ttl="
        + ttl
        + (waitAtMost == null ? "" : ", waitAtMost=" + waitAtMost)
        + (keepAliveUpTo == null ? "" : ", keepAliveUpTo=" + keepAliveUpTo)
        + (holdAtLeast.isZero() ? "" : ", holdAtLeast=" + holdAtLeast)
        + (ownerLabel == null ? "" : ", ownerLabel=" + ownerLabel)
        + "]";
  }

  private static void requireText(String what, String text, int maxBytes) {
    Objects.requireNonNull(text, what);
    if (text.isEmpty()) {
      throw new LockConfigurationException("the " + what + " is empty: give at least one byte");
    }
    if (text.length() <= maxBytes && isAscii(text)) {
      return;
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new LockConfigurationException(
          "the " + what + " holds half of a surrogate pair, which UTF-8 cannot carry");
    }
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > maxBytes) {
      throw new LockConfigurationException(
          "the "
              + what
              + " '"
              + text.substring(0, text.offsetByCodePoints(0, 20))
              + "…' is of "
              + bytes
              + " bytes in UTF-8: give at most "
              + maxBytes);
    }
  }

  private static boolean isAscii(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
  }

  private static void requirePositive(String what, Duration duration) {
    Objects.requireNonNull(duration, what);
    if (duration.isZero() || duration.isNegative()) {
      throw new LockConfigurationException(what + " is " + duration + ": give more than zero");
    }
  }

  private static void requireNotNegative(String what, Duration duration) {
    Objects.requireNonNull(duration, what);
    if (duration.isNegative()) {
      throw new LockConfigurationException(what + " is " + duration + ": give zero or more");
    }
  }
}
