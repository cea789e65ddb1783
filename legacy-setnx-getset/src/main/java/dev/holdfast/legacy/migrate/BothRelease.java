package dev.holdfast.legacy.migrate;

import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Release;
import dev.holdfast.core.LockPrimitive.Released;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The release of two locks, the new one first. The loss of one of them ends the other without a
 * minimum: a lost lock keeps other owners out for its ttl only.
 *
 * @param asked the release that the core requests of both locks
 */
record BothRelease(
    LockPrimitive oldLocks, Grant oldGrant, LockPrimitive newLocks, Grant newGrant, Release asked) {

  /** The end of the release of one of the two. */
  private record Returned(Optional<LossReason> loss, @Nullable Throwable failure) {
    static CompletableFuture<Returned> of(LockPrimitive locks, Release release) {
      return BothPrimitive.started(() -> locks.release(release))
          .handle(
              (released, failure) ->
                  failure == null
                      ? new Returned(released.loss(), null)
                      : new Returned(Optional.empty(), failure));
    }

    /** Returns the worse of two ends: a lock that another owner took, a loss, or a failure. */
    Returned worse(Returned other) {
      if (loss.isEmpty() && other.loss.isEmpty()) {
        return failure == null ? other : this;
      }
      boolean othersIsWorse = loss.isEmpty() || other.loss.equals(Optional.of(LossReason.TAKEN));
      return othersIsWorse ? other : this;
    }

    CompletableFuture<Released> toFuture() {
      return BothPrimitive.ended(new Released(loss, Released.UNKNOWN), failure);
    }
  }

  CompletableFuture<Released> start() {
    return Returned.of(newLocks, asAsked(newGrant))
        .thenCompose(
            ofNew ->
                releaseOld(ofNew)
                    .thenCompose(ofOld -> deleteLengthened(ofOld, ofNew))
                    .thenCompose(Returned::toFuture));
  }

  private CompletableFuture<Returned> releaseOld(Returned ofNew) {
    return Returned.of(oldLocks, ofNew.loss().isPresent() ? deletion(oldGrant) : asAsked(oldGrant));
  }

  /** Returns the end of both, after the deletion of a new lock that outlives the lost old one. */
  private CompletableFuture<Returned> deleteLengthened(Returned ofOld, Returned ofNew) {
    Returned worse = ofNew.worse(ofOld);
    boolean outlives =
        asked.mayLengthen()
            && !asked.keep().isZero()
            && ofOld.loss().isPresent()
            && ofNew.loss().isEmpty();
    return outlives
        ? Returned.of(newLocks, deletion(newGrant)).thenApply(deleted -> worse)
        : CompletableFuture.completedFuture(worse);
  }

  private Release asAsked(Grant one) {
    return new Release(one, asked.keep(), asked.mayLengthen(), asked.isHandoff());
  }

  private Release deletion(Grant one) {
    return new Release(one, Duration.ZERO, false, asked.isHandoff());
  }
}
