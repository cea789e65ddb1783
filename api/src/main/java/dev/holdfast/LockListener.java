package dev.holdfast;

/**
 * A listener to the locks, leases and nodes of one manager, for metrics, traces and alarms. Each
 * method does nothing by default, so that an implementation overrides the methods that it needs.
 *
 * <p>A method is called inline, on the thread that made the change, after the change, and under no
 * lock of the manager. {@link #onVote} and {@link #onNode} are the exception: they are called on a
 * thread of the manager's own, within about 10 ms. A method must return at once, and be safe for
 * use by many threads. A call that takes longer than 20 ms is logged, at most once a minute. A
 * listener that blocks can cost leases, because renewals wait for it, but it never lets a second
 * owner in. An exception of a method is dropped, and logged the first time.
 *
 * <p>Inside a call, closing a manager and every call that blocks end with {@link
 * IllegalStateException}. Calls that return a future are allowed. Opening a manager blocks, too,
 * but is not refused.
 *
 * <p>Calls about one lease come in the order of its life: {@link #onGranted} is the first, and one
 * of {@link #onReleased}, {@link #onTransferred} and {@link #onLost} follows exactly once. Calls
 * about different leases come in any order. A listener learns of no request that began before it
 * was added, and of no lease of such a request.
 */
public interface LockListener {
  /** The reason why a request got no lock. */
  enum Failure {
    /**
     * Another owner holds the lock, and the wait was over. An adoption that ended with {@link
     * LockLostException} counts as well: perhaps no owner is left, because the time of the transfer
     * was over.
     */
    CONTENDED,
    /** No quorum of nodes answered until the wait was over. */
    OUTAGE,
    /** A person has to correct the request, the URL or a node. */
    CONFIGURATION,
    /** The caller's thread was interrupted, or its future was cancelled or completed. */
    INTERRUPTED,
    /** The manager is closed. */
    CLOSED,
    /** Something failed that a manager does not expect, such as an error of the JVM. */
    ERROR
  }

  /** The outcome of a renewal. */
  enum Renewal {
    /** The lease is valid for longer. */
    EXTENDED,
    /** The lease was lost before the renewal succeeded. */
    LOST,
    /** The backend did not renew it. The lease is held, and the next renewal follows soon. */
    OUTAGE
  }

  /** The vote of one node on an attempt, an extension or a renewal. */
  enum Vote {
    /** The node gave the lock, or extended it. */
    GRANTED,
    /** Another owner has the lock on the node, or the lock is gone. */
    REFUSED,
    /** The node did not answer in time, or is down. */
    SILENT,
    /** The node answered with an error, or with something that is no vote. */
    ERROR,
    /** The node lost its data, and its vote does not count yet. */
    QUARANTINED
  }

  /**
   * Reports that a request acquired its lock. Called before the caller gets the lease. If the
   * caller has given up in the meantime, the lease ends by {@link #onReleased}.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease, unique in its manager
   * @param waitedNanos nanoseconds from the call to the grant
   * @param votes how many nodes granted the lock
   * @param margin how many more nodes can fail before the next request has no quorum, by what was
   *     known then: the nodes that granted the lock or had not voted yet, less the quorum
   */
  default void onGranted(String name, long leaseId, long waitedNanos, int votes, int margin) {}

  /**
   * Reports that a request ended without a lock. Each request has exactly one result: this one or
   * {@link #onGranted}.
   *
   * @param name the name of the lock
   * @param failure the reason
   * @param waitedNanos nanoseconds from the call to the failure
   */
  default void onNotGranted(String name, Failure failure, long waitedNanos) {}

  /**
   * Reports the outcome of a renewal. A renewal that a release cut short has no outcome.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease
   * @param outcome the outcome
   * @param tookNanos nanoseconds from the beginning of the renewal
   */
  default void onRenewal(String name, long leaseId, Renewal outcome, long tookNanos) {}

  /**
   * Reports that a lease was released, and the release was answered. A lease that no caller took
   * ends in this way, too.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease
   * @param heldNanos nanoseconds from the grant to the call of the release
   * @param confirmed false if no quorum answered, so that keys that were not removed expire with
   *     the ttl
   */
  default void onReleased(String name, long leaseId, long heldNanos, boolean confirmed) {}

  /**
   * Reports that a lease was transferred: its lock belongs to the text that {@link Lease#transfer}
   * returned. The manager that adopts the lock reports the adoption, as a grant of its own.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease
   * @param heldNanos nanoseconds from the grant to the transfer
   */
  default void onTransferred(String name, long leaseId, long heldNanos) {}

  /**
   * Reports that a lease was lost, and that the release of keys that may be left was answered.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease
   * @param reason the reason
   * @param heldNanos nanoseconds from the grant to the loss
   */
  default void onLost(String name, long leaseId, LossReason reason, long heldNanos) {}

  /**
   * Reports that a holder released or closed a lease that had been lost before. The holder's work
   * since the loss was not protected. Called at most once for a lease, before or after {@link
   * #onLost}.
   *
   * @param name the name of the lock
   * @param leaseId the number of the lease
   * @param overrunNanos nanoseconds from the loss to the release
   */
  default void onOverrun(String name, long leaseId, long overrunNanos) {}

  /**
   * Reports the vote of a node on an attempt or an extension, or that the vote is missing. Called
   * once for each node that was asked, also for a vote that came too late to count.
   *
   * @param node the node's address
   * @param vote the vote
   */
  default void onVote(String node, Vote vote) {}

  /**
   * Reports that a node is in another state than before, or in another quarantine, because the node
   * lost its data again or its clock was set back. After {@link LockNode.State#QUARANTINED}, {@link
   * LockNode.State#UP} means that the node votes again.
   *
   * @param node the node's address
   * @param state the new state
   * @param cause the reason why it does not vote, or empty if it votes
   */
  default void onNode(String node, LockNode.State state, String cause) {}

  /**
   * Reports a changed number of waiting requests or of operations in flight. If several changes
   * occur at the same time, perhaps only the last is reported.
   *
   * @param waiting how many requests have no result yet, of those that began while this manager had
   *     a listener
   * @param inFlight how many attempts, adoptions, extensions, transfers and releases are sent and
   *     not answered
   */
  default void onLoad(int waiting, int inFlight) {}

  /** The registration of one listener at one manager. */
  interface Registration extends AutoCloseable {
    /** Removes the listener. A call in progress on another thread goes on. May be called again. */
    @Override
    void close();
  }
}
