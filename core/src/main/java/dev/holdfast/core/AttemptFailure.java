package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockVotes;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The reason why an attempt gave no lock, though another attempt may. Immutable. */
sealed interface AttemptFailure {
  /** Completes a request whose wait is over, as {@code tryAcquire} reports this failure. */
  void completeRequest(CompletableFuture<Optional<Lease>> request);

  /** Returns the longest back-off after this failure, in nanoseconds. */
  long backoffNanos(long retryDelayNanos);

  /**
   * Another owner holds the lock.
   *
   * @param votes the nodes' votes on the attempt
   */
  record Contended(LockVotes votes) implements AttemptFailure {
    /** No attempt of this waiter, or of the head of its queue, has ended yet. */
    static final Contended UNTRIED = new Contended(LockVotes.NONE);

    @Override
    public void completeRequest(CompletableFuture<Optional<Lease>> request) {
      request.complete(Optional.empty());
    }

    @Override
    public long backoffNanos(long retryDelayNanos) {
      return retryDelayNanos;
    }
  }

  /**
   * No quorum of nodes answered, or no node could be asked.
   *
   * @param failure names the nodes
   */
  record Outage(LockException failure) implements AttemptFailure {
    /**
     * Longest back-off in nanoseconds: broken connections are tried again once a second. A longer
     * retry delay is meant for locks that others hold, and an outage says nothing of that.
     */
    private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Returns the outage of a request that was never attempted, because of the manager's load. */
    static Outage overloaded(String name, long waitNanos) {
      return new Outage(
          new LockOutageException(
              "'%s' was not attempted within %d ms: this manager already has %d operations in flight; wait longer, or ask for fewer locks at a time"
                  .formatted(
                      name,
                      TimeUnit.NANOSECONDS.toMillis(waitNanos),
                      ConcurrencyLimiter.MAX_IN_FLIGHT),
              Map.of(),
              false));
    }

    @Override
    public void completeRequest(CompletableFuture<Optional<Lease>> request) {
      request.completeExceptionally(failure);
    }

    @Override
    public long backoffNanos(long retryDelayNanos) {
      return Math.min(retryDelayNanos, MAX_BACKOFF_NANOS);
    }
  }
}
