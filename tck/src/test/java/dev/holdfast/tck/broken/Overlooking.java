package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * A lost wake-up: of a release that comes after the first attempt of a future was refused, and
 * before the future waits to be told, nothing is heard; and nobody asks again.
 */
final class Overlooking {
  /** About the calls that are made by one thread, in one go. */
  @SuppressWarnings("ThreadLocalUsage")
  private static final ThreadLocal<Boolean> FUTURE = ThreadLocal.withInitial(() -> false);

  @SuppressWarnings("ThreadLocalUsage")
  private static final ThreadLocal<Boolean> ASKS_NO_MORE = ThreadLocal.withInitial(() -> false);

  static final Parts PARTS =
      Parts.RIGHT
          .withManagers(right -> new Manager(right.get()))
          .withPrimitives(Redlock::new)
          .withSettings(builder -> builder.random(new Pauses()));

  private Overlooking() {}

  private static final class Manager extends PassingManager {
    Manager(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      FUTURE.set(true);
      try {
        return super.tryAcquireAsync(request);
      } finally {
        FUTURE.set(false);
      }
    }
  }

  private static final class Redlock extends SmallRedlock {
    private final Set<String> coming = ConcurrentHashMap.newKeySet();
    private final Set<String> overlooked = ConcurrentHashMap.newKeySet();

    Redlock(Members members, Clock clock, Duration nodeTimeout) {
      super(members, clock, nodeTimeout);
    }

    @Override
    public CompletionStage<Outcome> attempt(Attempt attempt) {
      if (FUTURE.get()) {
        coming.add(attempt.name());
        return super.attempt(attempt)
            .thenApplyAsync(
                outcome -> outcome, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS))
            .whenComplete((outcome, failure) -> coming.remove(attempt.name()));
      }
      if (overlooked.remove(attempt.name())) {
        ASKS_NO_MORE.set(true);
        return CompletableFuture.completedFuture(new Refusal(0, 1, 0));
      }
      return super.attempt(attempt);
    }

    @Override
    public CompletionStage<Optional<LossReason>> release(
        Grant grant, Duration keep, boolean callerWaits) {
      if (coming.contains(((Held) grant).name())) {
        overlooked.add(((Held) grant).name());
      }
      return super.release(grant, keep, callerWaits);
    }
  }

  /** As they are drawn by right managers, but for those who ask no more. */
  private static final class Pauses implements RandomGenerator {
    @Override
    public long nextLong() {
      return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public long nextLong(long bound) {
      if (ASKS_NO_MORE.get()) {
        ASKS_NO_MORE.set(false);
        return Duration.ofDays(1).toNanos();
      }
      return ThreadLocalRandom.current().nextLong(bound);
    }
  }
}
