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

  /** Whether the last extension that the holder asked for was an outage. */
  boolean couldNotExtend;

  int timesLost;

  /** Whether its holder has asked for its transfer. */
  boolean isTransferring;

  /** Whether a late renewal has put its key back since its transfer. */
  boolean isPutBack;

  /** The end of validity by each clock. A wall clock that is set back gives time back. */
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

  /** Its manager was closed: its keys are left to expire. */
  void closed(long now) {
    closed = true;
    over(now);
  }

  /** Lost data has made a second owner possible. Returns false if that was so already. */
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

  /** Its holder extends it. From now on only the lease knows its end. */
  void extending(Judge.Call call) {
    extended = true;
    extensions.add(call);
  }

  /** Whether its holder ever asked for that. */
  boolean isExtended() {
    return extended;
  }

  /** No extension is to go on after the lease's own end. */
  void endExtensions() {
    extensions.forEach(Judge.Call::ends);
  }

  /**
   * How long its process has run since its end was first seen here, which asks the lease nothing: a
   * lease that is asked notices its end.
   *
   * @return zero if its end has not come, or is not known here
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

  /** The same whenever the same seed is run. */
  long digest() {
    return lease.token().hashCode();
  }

  @Override
  public String toString() {
    return "c" + host.id() + " " + lease.name() + " " + Judge.shortened(lease.token());
  }
}
