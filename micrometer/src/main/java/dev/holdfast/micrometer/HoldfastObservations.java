package dev.holdfast.micrometer;

import dev.holdfast.LockManager;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;

/**
 * Observations of requests and of holds, for traces. Handlers of the registry, such as those of
 * Micrometer Tracing, make spans of them.
 *
 * <pre>{@code
 * LockManager locks = HoldfastObservations.observed(opened, "orders", registry);
 * }</pre>
 *
 * <p>{@code holdfast.lock.acquire} lasts from the call to its result, and {@code
 * holdfast.lock.hold} from the grant to the end of the lease. Both are children of the observation
 * that is current on the caller's thread. During {@link LockManager#executeLocked} and its like the
 * hold is current. The name of the lock is a high-cardinality key, so that it is no tag of a
 * metric.
 */
public final class HoldfastObservations {
  private HoldfastObservations() {}

  /**
   * Decorates a manager. Exceptions of handlers are logged once and dropped, and the locks go on.
   *
   * @param manager the manager, which is closed by closing the decorator
   * @param name the value of the low-cardinality key {@code manager}
   * @param registry where observations are reported
   * @return a manager that passes each call on, safe for use by many threads
   */
  public static LockManager observed(
      LockManager manager, String name, ObservationRegistry registry) {
    return new ObservedLockManager(
        Objects.requireNonNull(manager, "manager"),
        new LockObservations(
            Objects.requireNonNull(registry, "registry"), Objects.requireNonNull(name, "name")));
  }
}
