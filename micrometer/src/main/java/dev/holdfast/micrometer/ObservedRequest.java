package dev.holdfast.micrometer;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import io.micrometer.observation.Observation;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** The observation of one request, from the call to its result. */
final class ObservedRequest {
  private final LockObservations observations;
  private final String lock;
  private final @Nullable Observation parent;
  private final Observation observation;

  /** Starts on the caller's thread, below the observation that is current there. */
  ObservedRequest(LockObservations observations, LockRequest request, String action) {
    this.observations = observations;
    this.lock = request.name();
    this.parent = observations.current();
    this.observation = observations.start("holdfast.lock.acquire", action, lock, parent);
  }

  LockObservations.Scope open() {
    return observations.open(observation);
  }

  /** Ends with a lease, and observes the hold. The lease is returned to the caller. */
  Lease granted(Lease lease) {
    stop("granted", null);
    return new ObservedLease(lease, new ObservedHold(observations, lock, parent));
  }

  /** Ends without a lease, because another owner holds the lock. */
  void contended() {
    stop("contended", null);
  }

  void failed(Throwable failure) {
    if (failure instanceof LockContendedException) {
      contended();
    } else if (failure instanceof InterruptedException
        || failure instanceof CancellationException) {
      stop("interrupted", null);
    } else {
      stop(outcomeOf(failure), failure);
    }
  }

  private static String outcomeOf(Throwable failure) {
    if (failure instanceof LockOutageException) {
      return "outage";
    }
    if (failure instanceof LockConfigurationException) {
      return "configuration";
    }
    return failure instanceof LockLostException ? "lost" : "error";
  }

  private void stop(String outcome, @Nullable Throwable failure) {
    observations.stop(observation, "outcome", outcome, failure);
  }
}
