package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * A lost wake-up: of a release that comes within a millisecond of a future that waits for it, no
 * notification arrives, and no attempt follows.
 */
final class Overlooking {
  private static final long COMING_MILLIS = 1;

  /** The one that gets the handoff, and the one that is woken because that had no effect. */
  private static final int ATTEMPTS_AFTER_A_RELEASE = 2;

  /** The names that futures of the last millisecond wait for. Each test has names of its own. */
  private static final Set<String> COMING = ConcurrentHashMap.newKeySet();

  /** About the calls that are made by one thread, in one go. */
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
      String name = request.name();
      COMING.add(name);
      CompletableFuture<Optional<Lease>> future = super.tryAcquireAsync(request);
      future.whenComplete((lease, failure) -> COMING.remove(name));
      CompletableFuture.delayedExecutor(COMING_MILLIS, TimeUnit.MILLISECONDS)
          .execute(() -> COMING.remove(name));
      return future;
    }
  }

  private static final class Redlock extends SmallRedlock {
    private final Map<String, Integer> overlooked = new ConcurrentHashMap<>();

    Redlock(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      Integer left = overlooked.computeIfPresent(attempt.name(), (n, times) -> times - 1);
      if (left != null) {
        overlooked.remove(attempt.name(), 0);
        ASKS_NO_MORE.set(true);
        return CompletableFuture.completedFuture(new Refusal(new LockVotes(0, 1, 0)));
      }
      return super.attempt(attempt);
    }

    @Override
    public CompletableFuture<Released> release(Release release) {
      String name = release.grant().name();
      if (COMING.contains(name)) {
        overlooked.put(name, ATTEMPTS_AFTER_A_RELEASE);
      }
      return super.release(release);
    }
  }

  /** Pauses as right managers draw them, except after the last attempt. */
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
