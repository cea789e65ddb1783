package dev.holdfast.simulation;

import dev.holdfast.Lease;
import dev.holdfast.LockRequest;
import java.util.ArrayList;
import java.util.List;

/** A lease in a client's hands, and what has been seen of it. */
final class Holding {
  final Host host;
  final LockRequest request;
  final Lease lease;
  final long askedAt;
  private long overAt = -1;
  private boolean closed;
  private boolean excused;
  private boolean seenLost;
  private End granted = new End(0, 0);
  private End claimed = granted;
  private boolean extended;
  private final List<Judge.Call> extensions = new ArrayList<>();
  private long ranWhenSeenOver = -1;
  boolean heldWhenReleased;

  /** True if the last extension that the holder requested was an outage. */
  boolean couldNotExtend;

  int timesLost;

  /** True if the holder has requested the transfer. */
  boolean isTransferring;

  /** True if a late renewal has stored the key again since the transfer. */
  boolean isPutBack;

  /** The end of validity by each clock. A wall clock that is set back makes it longer. */
  private record End(long nanos, long wallMicros) {
    boolean isAheadOf(HostClock clock) {
      return clock.nanos() < nanos && clock.wallMicros() < wallMicros;
    }
  }

  Holding(Host host, LockRequest request, Lease lease, long askedAt) {
    this.host = host;
    this.request = request;
    this.lease = lease;
    this.askedAt = askedAt;
  }

  boolean isOver() {
    return overAt >= 0;
  }

  long overAt() {
    return overAt;
  }

  void over(long now) {
    overAt = isOver() ? overAt : now;
  }

  void seenLost() {
    seenLost = true;
  }

  /** Notes that the holder no longer holds the lease. Its keys are left to expire. */
  void closed(long now) {
    closed = true;
    over(now);
  }

  /**
   * Notes that lost data has made a second owner possible. Returns false if that was known already.
   */
  boolean excuse() {
    boolean first = !excused;
    excused = true;
    return first;
  }

  boolean isClosed() {
    return closed;
  }

  boolean wasSeenLost() {
    return seenLost;
  }

  /** Keeps the end as it was granted. */
  void granted() {
    claim();
    granted = claimed;
  }

  /** Keeps what the lease says of itself, for as long as its process cannot be asked. */
  void claim() {
    long left = lease.remaining().toNanos();
    claimed = new End(host.clock.nanos() + left, host.clock.wallMicros() + left / 1_000);
  }

  /** Notes an extension by the holder. From now on only the lease knows its end. */
  void extending(Judge.Call call) {
    extended = true;
    extensions.add(call);
  }

  /** Returns whether the holder ever requested an extension. */
  boolean isExtended() {
    return extended;
  }

  /** Ends all extensions, because none may go on after the lease's own end. */
  void endExtensions() {
    extensions.forEach(Judge.Call::ends);
  }

  /**
   * Returns the time that the process has run since the end of the lease was first seen here. This
   * does not ask the lease, because a lease that is asked notices its end.
   *
   * @return zero if the end has not come, or is not known here
   */
  long overdue() {
    boolean isKnown = !extended && request.keepAliveUpTo().isEmpty();
    if (!isKnown || granted.isAheadOf(host.clock)) {
      ranWhenSeenOver = -1;
      return 0;
    }
    ranWhenSeenOver = ranWhenSeenOver < 0 ? host.ranFor() : ranWhenSeenOver;
    return host.ranFor() - ranWhenSeenOver;
  }

  boolean claimsToBeHeld() {
    return claimed.isAheadOf(host.clock);
  }

  /** Returns a number that is the same in each run of the same seed. */
  long digest() {
    return lease.token().hashCode();
  }

  @Override
  public String toString() {
    return "c" + host.id() + " " + lease.name() + " " + Judge.shortened(lease.token());
  }
}
