package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
import dev.holdfast.tck.broken.Asked.Part;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** Flaws of single ways to ask, and of requests that are used again. */
final class AskingFlaws {
  private static final Duration DAY = Duration.ofDays(1);

  private AskingFlaws() {}

  static List<Flaw> all() {
    return List.of(
        inAcquire("acquire does not pass the owner's label on", Part.OWNER),
        inAcquire("acquire has nothing renewed", Part.MAX_HOLD),
        inAcquire("acquire knows no holdAtLeast", Part.MIN_HOLD),
        inAsync("tryAcquireAsync does not pass the owner's label on", Set.of("ACQ-16"), Part.OWNER),
        inAsync("tryAcquireAsync has nothing renewed", Set.of("ACQ-16", "KEEP-5"), Part.MAX_HOLD),
        inAsync("tryAcquireAsync knows no holdAtLeast", Set.of("ACQ-11", "ACQ-16"), Part.MIN_HOLD),
        inCallLocked("executeLocked does not pass the owner's label on", Part.OWNER),
        inCallLocked("executeLocked has nothing renewed", Part.MAX_HOLD),
        inCallLocked("executeLocked knows no holdAtLeast", Part.MIN_HOLD),
        Flaw.inManager(
                "tryExecuteLocked knows no holdAtLeast",
                Set.of("ACQ-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public <T, X extends Exception> Optional<T> tryExecuteLocked(
                          LockRequest request, LockedTask<T, X> task)
                          throws InterruptedException, X {
                        return super.tryExecuteLocked(Asked.without(request, Part.MIN_HOLD), task);
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "whoever waits for ever gets another ttl than it asked for",
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    boolean forever =
                        asked.waitAtMost().filter(w -> w.compareTo(DAY) > 0).isPresent();
                    return forever ? Asked.withTtl(asked, asked.ttl().dividedBy(2)) : asked;
                  }
                }),
        Flaw.inManager(
                "whoever waits for some time is renewed for ever",
                Set.of("ACQ-14", "ACQ-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      LockRequest request(LockRequest asked) {
                        return asked.waitAtMost().filter(wait -> !wait.isZero()).isPresent()
                                && asked.keepAliveUpTo().isPresent()
                            ? asked.keepAliveUpTo(DAY)
                            : asked;
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "the longest hold counts from when the request was used first",
            Set.of("ACQ-17"),
            HoldsOfRequests::new),
        Flaw.inManager(
                "the wait counts from when the request was used first",
                Set.of("ACQ-17"),
                WaitsOfRequests::new)
            .asVariation(),
        Flaw.inManager(
                "equal requests that are under way are one",
                Set.of("ACQ-17", "WAIT-3"),
                SingleFlight::new)
            .asVariation());
  }

  private static Flaw inAcquire(String mistake, Part forgotten) {
    return Flaw.inManager(
            mistake,
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(LockRequest request) throws InterruptedException {
                    return super.acquire(Asked.without(request, forgotten));
                  }
                })
        .asVariation();
  }

  private static Flaw inAsync(String mistake, Set<String> rules, Part forgotten) {
    return Flaw.inManager(
            mistake,
            rules,
            right ->
                new PassingManager(right) {
                  @Override
                  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
                    return super.tryAcquireAsync(Asked.without(request, forgotten));
                  }
                })
        .asVariation();
  }

  private static Flaw inCallLocked(String mistake, Part forgotten) {
    return Flaw.inManager(
            mistake,
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  public <T, X extends Exception> T executeLocked(
                      LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
                    return super.executeLocked(Asked.without(request, forgotten), task);
                  }
                })
        .asVariation();
  }

  /** Remembers when it has seen a request for the first time. */
  private abstract static class Remembering extends PassingManager {
    private final IdentityHashMap<LockRequest, Long> begun = new IdentityHashMap<>();

    Remembering(LockManager right) {
      super(right);
    }

    synchronized Duration since(LockRequest request) {
      long now = System.nanoTime();
      return Duration.ofNanos(now - begun.computeIfAbsent(request, first -> now));
    }

    Duration left(Duration of, LockRequest request) {
      Duration left = of.minus(since(request));
      return left.isNegative() ? Duration.ZERO : left;
    }
  }

  private static final class HoldsOfRequests extends Remembering {
    HoldsOfRequests(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      UnaryOperator<Duration> limit = left -> left.compareTo(asked.ttl()) < 0 ? asked.ttl() : left;
      return asked
          .keepAliveUpTo()
          .map(hold -> asked.keepAliveUpTo(limit.apply(left(hold, asked))))
          .orElse(asked);
    }
  }

  private static final class WaitsOfRequests extends Remembering {
    WaitsOfRequests(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      return asked
          .waitAtMost()
          .filter(wait -> wait.compareTo(DAY) < 0)
          .map(wait -> asked.waitAtMost(left(wait, asked)))
          .orElse(asked);
    }
  }

  /** Gives those who ask the same at the same time the same future. */
  private static final class SingleFlight extends PassingManager {
    private final Map<LockRequest, CompletableFuture<Optional<Lease>>> underWay =
        new ConcurrentHashMap<>();

    SingleFlight(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> asked =
          underWay.computeIfAbsent(request, super::tryAcquireAsync);
      asked.whenComplete((lease, failure) -> underWay.remove(request, asked));
      return asked;
    }
  }
}
