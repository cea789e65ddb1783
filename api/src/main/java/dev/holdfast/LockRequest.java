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
  /** Maximum bytes of a name in UTF-8, because names are keys in Redis and stand in messages. */
  private static final int MAX_NAME_BYTES = 1024;

  /** Maximum bytes of a label in UTF-8, because people read labels. */
  private static final int MAX_OWNER_BYTES = 256;

  /** Maximum of a hold, because only an operator can end it before its time. */
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
   * Returns a request with the defaults: {@link LockManager#tryAcquire(LockRequest)} makes one
   * attempt, {@link LockManager#acquire(LockRequest)} waits until it has the lock, and the lease is
   * not renewed.
   *
   * @param name 1 byte to 1 KiB in UTF-8, used unchanged, neither trimmed nor folded
   * @param ttl how long the lock may outlive a holder that dies, above zero. A manager requires
   *     more than its allowance for drift, and at most its {@code maxTtl}
   * @return the request
   * @throws LockConfigurationException if the name or the ttl is out of range
   */
  public static LockRequest of(String name, Duration ttl) {
    requireText("name of a lock", name, MAX_NAME_BYTES);
    requirePositive("ttl", ttl);
    return new LockRequest(name, ttl, null, null, Duration.ZERO, null);
  }

  /**
   * Sets how long to wait for the lock while another owner holds it. No attempt starts after this
   * time, and an attempt in flight is not cut short: in an outage the wait may take the manager's
   * {@code quorumTimeout} longer, once.
   *
   * @param wait zero for one attempt at most, not negative
   * @return a new request
   * @throws LockConfigurationException if it is negative
   */
  public LockRequest waitAtMost(Duration wait) {
    requireNotNegative("waitAtMost", wait);
    return new LockRequest(name, ttl, wait, keepAliveUpTo, holdAtLeast, ownerLabel);
  }

  /**
   * Sets a wait that ends when the lock is acquired, or the thread is interrupted.
   *
   * @return a new request
   */
  public LockRequest waitForever() {
    return waitAtMost(ChronoUnit.FOREVER.getDuration());
  }

  /**
   * Sets how long the lease is renewed in the background, from its grant, every third of the ttl.
   * After this time the lease ends with {@link LossReason#MAX_HOLD}. The Redlock page asks for a
   * limit of renewals, so that a holder that hangs does not hold the lock forever.
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
   * Sets a minimum for which other owners are kept out, from the grant, even if the lease is
   * released sooner. An early release sets the lock's life to the rest of the minimum, which may be
   * more than the ttl. A holder that dies or loses the lock keeps other owners out for the ttl
   * only. For short jobs that several machines start at the same time of day, with clocks that are
   * not quite equal.
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
   * Sets the holder's label, for people who inspect the lock. Labels need not be different: tokens
   * distinguish owners.
   *
   * @param label 1 to 256 bytes in UTF-8, by default {@code host:pid}
   * @return a new request
   * @throws LockConfigurationException if it is empty or too long
   */
  public LockRequest ownerLabel(String label) {
    requireText("owner label", label, MAX_OWNER_BYTES);
    return new LockRequest(name, ttl, waitAtMost, keepAliveUpTo, holdAtLeast, label);
  }

  /**
   * Returns the name of the lock.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * Returns how long the lock may outlive a holder that dies.
   *
   * @return above zero
   */
  public Duration ttl() {
    return ttl;
  }

  /**
   * Returns how long to wait for the lock.
   *
   * @return empty if the request does not set it, or {@link ChronoUnit#FOREVER}'s duration for
   *     {@link #waitForever()}
   */
  public Optional<Duration> waitAtMost() {
    return Optional.ofNullable(waitAtMost);
  }

  /**
   * Returns how long the lease is renewed, from its grant.
   *
   * @return empty if it is not renewed
   */
  public Optional<Duration> keepAliveUpTo() {
    return Optional.ofNullable(keepAliveUpTo);
  }

  /**
   * Returns the minimum for which other owners are kept out, from the grant.
   *
   * @return zero if the request does not set it
   */
  public Duration holdAtLeast() {
    return holdAtLeast;
  }

  /**
   * Returns the holder's label.
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
