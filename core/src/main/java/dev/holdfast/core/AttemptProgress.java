package dev.holdfast.core;

import dev.holdfast.LockException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of an attempt in flight. Waiters behind it report an outage, and not contention, if
 * their wait ends while no quorum has answered the attempt. Safe for use by many threads.
 */
public final class AttemptProgress {
  private volatile @Nullable Supplier<@Nullable LockException> outage;
  private volatile boolean limitedByTtl;

  /** Starts without a report: the attempt is in no outage, if known. */
  public AttemptProgress() {}

  /**
   * Sets the report of an outage, in the place of one that was set before.
   *
   * @param soFar returns null while the attempt is in no outage, is short, and does not block
   */
  public void outage(Supplier<@Nullable LockException> soFar) {
    outage = soFar;
  }

  /**
   * Notes that the attempt's own ttl left so little time for answers that their absence says
   * nothing of the backend. Waiters behind it do not report its outage.
   */
  public void limitedByTtl() {
    limitedByTtl = true;
  }

  /** Tells whether the attempt's own ttl was its limit. */
  boolean isLimitedByTtl() {
    return limitedByTtl;
  }

  /**
   * Returns the outage that the attempt is in so far.
   *
   * @return null if it is in none
   */
  @Nullable LockException outage() {
    Supplier<@Nullable LockException> soFar = outage;
    return soFar == null ? null : soFar.get();
  }
}
