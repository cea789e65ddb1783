package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import java.util.concurrent.CompletableFuture;

/** The ping of a backend that has none of its own: an inspection that a quorum answers. */
final class PingByInspection {
  private PingByInspection() {}

  /** Inspects a lock. Completes normally for an outage, and exceptionally for other failures. */
  static CompletableFuture<Boolean> ping(LockPrimitive backend, String name) {
    if (!backend.capabilities().contains(LockCapability.INSPECTION)) {
      return CompletableFuture.failedFuture(
          new LockConfigurationException(
              "ping needs INSPECTION, which this backend does not have: "
                  + backend.capabilities()));
    }
    return backend
        .inspect(name)
        .handle(
            (status, failure) -> {
              if (failure != null && !(Futures.cause(failure) instanceof LockOutageException)) {
                throw Futures.unchecked(failure);
              }
              return failure == null;
            });
  }
}
