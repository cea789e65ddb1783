package dev.holdfast.micrometer;

import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import io.micrometer.observation.Observation;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The observation of one hold. The first end counts. It does not know the lease, which must not
 * stay reachable when its holder forgets it.
 */
final class ObservedHold {
  private final LockObservations observations;
  private final String lock;
  private final Observation observation;
  private final AtomicBoolean hasEnded = new AtomicBoolean();

  /**
   * Starts the observation.
   *
   * @param parent the observation around it, or null for the current one of this thread
   */
  ObservedHold(LockObservations observations, String lock, @Nullable Observation parent) {
    this.observations = observations;
    this.lock = lock;
    this.observation = observations.start("holdfast.lock.hold", "hold lock", lock, parent);
  }

  LockObservations.Scope open() {
    return observations.open(observation);
  }

  void lost(LossReason reason) {
    lost(new LockLostException(lock, reason));
  }

  void lost(LockLostException loss) {
    end("lost", loss);
  }

  void transferred() {
    end("transferred", null);
  }

  /**
   * Ends by a release.
   *
   * @param failure the reason why the release is not confirmed, or null if it is
   */
  void released(@Nullable Throwable failure) {
    end("released", failure);
  }

  private void end(String how, @Nullable Throwable failure) {
    if (!hasEnded.getAndSet(true)) {
      observations.stop(observation, "end", how, failure);
    }
  }
}
