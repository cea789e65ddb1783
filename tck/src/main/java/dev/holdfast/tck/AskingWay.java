package dev.holdfast.tck;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/** The ways in which a user asks for a lock that is free. */
enum AskingWay {
  TRY_ACQUIRE {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.tryAcquire(request).orElseThrow(), holder);
    }
  },
  TRY_ACQUIRE_WITH_A_WAIT {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.tryAcquire(request.waitAtMost(WAIT)).orElseThrow(), holder);
    }
  },
  ACQUIRE {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.acquire(request), holder);
    }
  },
  ACQUIRE_WITH_A_WAIT {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.acquire(request.waitAtMost(WAIT)), holder);
    }
  },
  TRY_ACQUIRE_ASYNC {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.tryAcquireAsync(request).get().orElseThrow(), holder);
    }
  },
  TRY_ACQUIRE_ASYNC_WITH_A_WAIT {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      during(locks.tryAcquireAsync(request.waitAtMost(WAIT)).get().orElseThrow(), holder);
    }
  },
  CALL_LOCKED {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      locks.callLocked(
          request,
          lease -> {
            holder.holds(Optional.of(lease));
            return "";
          });
    }
  },
  LOCK {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      Lock lock = Locks.asLock(locks, request);
      lock.lock();
      during(lock, holder);
    }
  },
  LOCK_INTERRUPTIBLY {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      Lock lock = Locks.asLock(locks, request);
      lock.lockInterruptibly();
      during(lock, holder);
    }
  },
  TRY_LOCK {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      Lock lock = Locks.asLock(locks, request);
      if (lock.tryLock()) {
        during(lock, holder);
      }
    }
  },
  TRY_LOCK_WITH_A_WAIT {
    @Override
    void hold(LockManager locks, LockRequest request, Holder holder) throws Exception {
      Lock lock = Locks.asLock(locks, request);
      if (lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        during(lock, holder);
      }
    }
  };

  /** Longer than a machine stalls. */
  private static final Duration WAIT = Duration.ofSeconds(5);

  /** Work that is done while a lock is held. */
  interface Holder {
    /**
     * Is called once the lock is held, which is given back when this returns.
     *
     * @param lease empty for a view, which shows none
     */
    void holds(Optional<Lease> lease) throws Exception;
  }

  /** Takes the lock, lets the holder work, and gives the lock back. */
  abstract void hold(LockManager locks, LockRequest request, Holder holder) throws Exception;

  /** Whether a lease is at hand while the lock is held. */
  boolean isView() {
    return compareTo(LOCK) >= 0;
  }

  /** Those that show a lease, and need no capability. */
  static List<AskingWay> withLeases() {
    return Stream.of(values()).filter(way -> !way.isView()).toList();
  }

  private static void during(Lease lease, Holder holder) throws Exception {
    try (lease) {
      holder.holds(Optional.of(lease));
    }
  }

  private static void during(Lock lock, Holder holder) throws Exception {
    try {
      holder.holds(Optional.empty());
    } finally {
      lock.unlock();
    }
  }
}
