package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedAction;
import dev.holdfast.LockedTask;
import dev.holdfast.Locks;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Flaws of the methods that run a task under a lock, except {@code executeLocked}. */
final class ExecutingFlaws {
  private ExecutingFlaws() {}

  static List<Flaw> all() {
    return List.of(
        inTryExecuteLocked(
            "tryExecuteLocked runs the task under a lease of another lock if it is not free",
            RunsAnyway::new),
        inTryExecuteLocked(
                "tryExecuteLocked lets the task work on when the lease is lost", Deaf::new)
            .asVariation(),
        inTryExecuteLocked("tryExecuteLocked is empty if the task returns null", NullIsEmpty::new)
            .asVariation(),
        inTryExecuteLocked("tryRunLocked is always true", AlwaysTrue::new).asVariation(),
        inTryExecuteLocked("tryRunLocked is false for work that was done", AlwaysFalse::new)
            .asVariation(),
        inTryExecuteLocked("tryExecuteLocked drops the result", WithoutResult::new).asVariation(),
        Flaw.inManager("runLocked keeps the lock", Set.of("ACQ-18"), KeepsAfterRunning::new)
            .asVariation(),
        Flaw.inManager(
            "the task of executeLocked is given another lease than the current one",
            Set.of("ACQ-20"),
            OtherLease::new),
        Flaw.inManager(
                "the task of tryExecuteLocked is given another lease than the current one",
                Set.of("ACQ-20"),
                OtherTriedLease::new)
            .asVariation(),
        Flaw.inManager(
                "all managers say that they decorate the same one",
                Set.of("ACQ-20"),
                OneForAll::new)
            .asVariation());
  }

  private static Flaw inTryExecuteLocked(String mistake, UnaryOperator<LockManager> manager) {
    return Flaw.inManager(mistake, Set.of("ACQ-18"), manager);
  }

  private static final class RunsAnyway extends PassingManager {
    RunsAnyway(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      Optional<T> result = super.tryExecuteLocked(request, task);
      return result.isPresent()
          ? result
          : super.tryExecuteLocked(LockRequest.of(request.name() + "-2", request.ttl()), task);
    }
  }

  /** A manager whose tasks are not notified of a loss before they have ended. */
  private static final class Deaf extends PassingManager {
    Deaf(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      Optional<Lease> granted = tryAcquire(request);
      if (granted.isEmpty()) {
        return Optional.empty();
      }
      try (Lease lease = new WithoutNotice(granted.get())) {
        return Optional.of(
            Objects.requireNonNull(Locks.executeHolding(this, lease, task), "tryRunLocked"));
      }
    }
  }

  private static final class NullIsEmpty extends PassingManager {
    NullIsEmpty(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      return super.<Optional<T>, X>tryExecuteLocked(
              request, lease -> Optional.ofNullable(task.call(lease)))
          .flatMap(result -> result);
    }
  }

  private static final class AlwaysTrue extends PassingManager {
    AlwaysTrue(LockManager right) {
      super(right);
    }

    @Override
    public <X extends Exception> boolean tryRunLocked(LockRequest request, LockedAction<X> action)
        throws InterruptedException, X {
      super.tryRunLocked(request, action);
      return true;
    }
  }

  private static final class AlwaysFalse extends PassingManager {
    AlwaysFalse(LockManager right) {
      super(right);
    }

    @Override
    public <X extends Exception> boolean tryRunLocked(LockRequest request, LockedAction<X> action)
        throws InterruptedException, X {
      super.tryRunLocked(request, action);
      return false;
    }
  }

  private static final class WithoutResult extends PassingManager {
    WithoutResult(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      return super.tryExecuteLocked(request, task).filter(Boolean.class::isInstance);
    }
  }

  private static final class KeepsAfterRunning extends PassingManager {
    KeepsAfterRunning(LockManager right) {
      super(right);
    }

    @Override
    public <X extends Exception> void runLocked(LockRequest request, LockedAction<X> action)
        throws InterruptedException, X {
      Locks.executeHolding(
          this,
          acquire(request),
          lease -> {
            action.run(lease);
            return true;
          });
    }
  }

  private static final class OtherLease extends PassingManager {
    OtherLease(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
        throws InterruptedException, X {
      return super.executeLocked(request, lease -> task.call(new PassingLease(lease)));
    }
  }

  private static final class OtherTriedLease extends PassingManager {
    OtherTriedLease(LockManager right) {
      super(right);
    }

    @Override
    public <T, X extends Exception> Optional<T> tryExecuteLocked(
        LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
      return super.tryExecuteLocked(request, lease -> task.call(new PassingLease(lease)));
    }
  }

  private static final class OneForAll extends PassingManager {
    private static final LockManager ONE =
        (LockManager)
            Proxy.newProxyInstance(
                OneForAll.class.getClassLoader(),
                new Class<?>[] {LockManager.class},
                (proxy, method, arguments) -> {
                  throw new UnsupportedOperationException(method.getName());
                });

    OneForAll(LockManager right) {
      super(right);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
      return type == LockManager.class ? Optional.of(type.cast(ONE)) : super.unwrap(type);
    }
  }
}
