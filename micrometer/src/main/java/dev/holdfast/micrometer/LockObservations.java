package dev.holdfast.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The observations of one manager. Nothing here throws: a handler that fails must not cost a lease.
 */
final class LockObservations {
  private static final Logger LOG = System.getLogger(HoldfastObservations.class.getName());

  private final ObservationRegistry registry;
  private final String manager;
  private final AtomicBoolean hasFailed = new AtomicBoolean();

  LockObservations(ObservationRegistry registry, String manager) {
    this.registry = registry;
    this.manager = manager;
  }

  @Nullable Observation current() {
    return registry.getCurrentObservation();
  }

  /**
   * Starts an observation.
   *
   * @param name its name, for metrics
   * @param action its name, for people
   * @param lock the name of the lock
   * @param parent the observation around it, or null for the current one of this thread
   */
  Observation start(String name, String action, String lock, @Nullable Observation parent) {
    try {
      Observation observation =
          Observation.createNotStarted(name, registry)
              .contextualName(action)
              .lowCardinalityKeyValue("manager", manager)
              .highCardinalityKeyValue("lock", lock);
      if (parent != null) {
        observation.parentObservation(parent);
      }
      return observation.start();
    } catch (RuntimeException | Error e) {
      onFailed(e);
      return Observation.NOOP;
    }
  }

  /** Makes an observation the current one of this thread, until the scope is closed. */
  Scope open(Observation observation) {
    Observation.@Nullable Scope before = registry.getCurrentObservationScope();
    try {
      Observation.Scope scope = observation.openScope();
      return () -> close(scope, before);
    } catch (RuntimeException | Error e) {
      onFailed(e);
      registry.setCurrentObservationScope(before);
      return () -> {};
    }
  }

  private void close(Observation.Scope scope, Observation.@Nullable Scope before) {
    try {
      scope.close();
    } catch (RuntimeException | Error e) {
      onFailed(e);
      registry.setCurrentObservationScope(before);
    }
  }

  /**
   * Stops an observation.
   *
   * @param key the low-cardinality key of the result
   * @param value the result
   * @param failure the error, or null if it is none
   */
  void stop(Observation observation, String key, String value, @Nullable Throwable failure) {
    try {
      observation.lowCardinalityKeyValue(key, value);
      if (failure != null) {
        observation.error(failure);
      }
    } catch (RuntimeException | Error e) {
      onFailed(e);
    }
    try {
      observation.stop();
    } catch (RuntimeException | Error e) {
      onFailed(e);
    }
  }

  private void onFailed(Throwable e) {
    if (hasFailed.getAndSet(true)) {
      return;
    }
    try {
      LOG.log(
          Level.WARNING,
          "a handler of observations failed, and locks go on without it: correct the handler",
          e);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken, too, and there is no other place to report to
    }
  }

  /** A scope whose end throws nothing. */
  interface Scope {
    void close();
  }
}
