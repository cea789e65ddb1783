package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** Mistakes that show when much happens at once, and those of futures and of handoffs. */
final class ManyFlaws {
  private static final int FEW = 64;

  private ManyFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.of(
            "each node sees that a lock has expired, and takes it over then",
            Set.of("ACQ-1"),
            Parts.RIGHT.withKeys(Remembering::new).withConnections(TakesOverLater::new)),
        Flaw.inManager(
            "requests beyond 256 in flight are refused", Set.of("WAIT-14"), AtMost256::new),
        Flaw.inManager(
            "leases beyond the first 64 are not kept alive", Set.of("KEEP-1"), KeepsFewAlive::new),
        Flaw.inManager(
            "the end of a lease is not told while 64 others are held",
            Set.of("LOSS-1"),
            WatchesFew::new),
        Flaw.inMembers(
            "a lazy manager refuses requests while it connects",
            Set.of("OPEN-4"),
            RefusesAtFirst::new),
        Flaw.inLease(
            "a release that comes while another is in flight is false",
            Set.of("REL-5"),
            OneRelease::new),
        Flaw.inManager(
            "tryAcquireAsync without a wait makes its attempt on the caller's thread",
            Set.of("RES-3"),
            BlockingAttempts::new),
        Flaw.inLease("extendAsync waits for the answer", Set.of("RES-3"), BlockingExtensions::new),
        Flaw.inLease("releaseAsync waits for the answer", Set.of("RES-3"), BlockingReleases::new),
        Flaw.inRedlock(
            "no attempt is made until the wall clock is past the last one",
            Set.of("WAIT-5"),
            (members, clock, timeouts) -> new AfterTheLast(members, clock, timeouts, true)),
        Flaw.inRedlock(
            "nothing is extended until the wall clock is past the grant",
            Set.of("KEEP-1"),
            (members, clock, timeouts) -> new AfterTheLast(members, clock, timeouts, false)),
        Flaw.of(
            "those who wait are served by another manager than those who do not",
            Set.of("WAIT-10"),
            Parts.RIGHT.withManagers(right -> new ManagerOfWaiters(right.get(), right.get()))));
  }

  /** Knows which keys were there and have expired. */
  private static final class Remembering extends FakeKeys {
    private final Set<String> expired = new HashSet<>();

    boolean hasExpired(String name) {
      return !contains(name) && expired.contains(name);
    }

    @Override
    boolean contains(String name) {
      boolean was = names().contains(key(name));
      boolean is = super.contains(name);
      if (was && !is) {
        expired.add(name);
      }
      return is;
    }

    @Override
    void put(String name, String token, Duration ttl) {
      expired.remove(name);
      super.put(name, token, ttl);
    }
  }

  /**
   * Takes a lock over that it saw to have expired just before, though another owner holds it by
   * then.
   */
  private static final class TakesOverLater extends Member {
    private static final long LATER_NANOS = 2_000_000;
    private static final Object EXPIRED = "expired";

    private final Scheduler network;

    TakesOverLater(String uri, Way way, Scheduler network) {
      super(uri, way, network);
      this.network = network;
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      if (request.verb() != Verb.SET) {
        super.ask(request, wanted, answer);
        return;
      }
      Function<FakeKeys, Object> set = request.work();
      super.ask(
          with(
              request,
              keys -> ((Remembering) keys).hasExpired(request.name()) ? EXPIRED : set.apply(keys)),
          wanted,
          reply -> {
            if (reply == EXPIRED) {
              network.schedule(LATER_NANOS, () -> takeOver(request, wanted, answer));
            } else {
              answer.accept(reply);
            }
          });
    }

    private void takeOver(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      Function<FakeKeys, Object> set = request.work();
      super.ask(
          with(
              request,
              keys -> {
                keys.remove(request.name());
                return set.apply(keys);
              }),
          wanted,
          answer);
    }

    private static Request with(Request request, Function<FakeKeys, Object> work) {
      return new Request(request.verb(), false, request.name(), request.text(), work);
    }
  }

  private static final class AtMost256 extends PassingManager {
    private final AtomicInteger inFlight = new AtomicInteger();

    AtMost256(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      if (inFlight.incrementAndGet() > 256) {
        inFlight.decrementAndGet();
        return CompletableFuture.failedFuture(
            new LockOutageException("too many requests in flight", Map.of(), false));
      }
      CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
      asked.whenComplete((lease, failure) -> inFlight.decrementAndGet());
      return asked;
    }
  }

  private static final class KeepsFewAlive extends PassingManager {
    private final AtomicInteger kept = new AtomicInteger();

    KeepsFewAlive(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      return asked.keepAliveUpTo().isEmpty() || kept.incrementAndGet() <= FEW
          ? asked
          : LockRequest.of(asked.name(), asked.ttl());
    }
  }

  private static final class WatchesFew extends PassingManager {
    private final AtomicInteger granted = new AtomicInteger();

    WatchesFew(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease lease) {
      if (granted.incrementAndGet() <= FEW) {
        return lease;
      }
      return new PassingLease(lease) {
        @Override
        public CompletableFuture<LossReason> onLoss() {
          return new CompletableFuture<>();
        }
      };
    }
  }

  private static final class RefusesAtFirst extends Members {
    private boolean begun;

    RefusesAtFirst(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
    }

    @Override
    synchronized CompletableFuture<Void> open() {
      CompletableFuture<Void> opening = super.open();
      boolean isFirst = !begun;
      begun = true;
      return isFirst || opening.isDone()
          ? opening
          : CompletableFuture.failedFuture(
              new LockOutageException("it connects at present", Map.of(), false));
    }
  }

  private static final class OneRelease extends PassingLease {
    private final AtomicBoolean releasing = new AtomicBoolean();
    private volatile boolean over;

    OneRelease(Lease right) {
      super(right);
    }

    @Override
    public boolean release() {
      if (!over && !releasing.compareAndSet(false, true)) {
        return false;
      }
      try {
        return super.release();
      } finally {
        over = true;
      }
    }
  }

  private static final class BlockingAttempts extends PassingManager {
    BlockingAttempts(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
      if (request.waitAtMost().orElse(Duration.ZERO).isZero()) {
        awaited(asked);
      }
      return asked;
    }
  }

  private static final class BlockingExtensions extends PassingLease {
    BlockingExtensions(Lease right) {
      super(right);
    }

    @Override
    public CompletableFuture<Void> extendAsync(Duration ttl) {
      return awaited(super.extendAsync(ttl));
    }
  }

  private static final class BlockingReleases extends PassingLease {
    BlockingReleases(Lease right) {
      super(right);
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
      return awaited(super.releaseAsync());
    }
  }

  /** Waits on the thread of the caller. */
  private static <T> CompletableFuture<T> awaited(CompletableFuture<T> future) {
    try {
      future.join();
    } catch (CancellationException | CompletionException e) {
      // the caller sees it in the future
    }
    return future;
  }

  /** Does nothing while the wall clock shows an earlier time than at the last attempt. */
  private static final class AfterTheLast extends SmallRedlock {
    private final Clock clock;
    private final boolean delaysAttempts;
    private final AtomicLong last = new AtomicLong(Long.MIN_VALUE);

    AfterTheLast(Members members, Clock clock, Timeouts timeouts, boolean delaysAttempts) {
      super(members, clock, timeouts);
      this.clock = clock;
      this.delaysAttempts = delaysAttempts;
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      long now = clock.wallMicros();
      if (delaysAttempts && now < last.get()) {
        return CompletableFuture.failedFuture(tooEarly());
      }
      last.accumulateAndGet(now, Math::max);
      return super.attempt(attempt);
    }

    @Override
    public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
      return !delaysAttempts && clock.wallMicros() < last.get()
          ? CompletableFuture.failedFuture(tooEarly())
          : super.extend(grant, ttl);
    }

    private static LockOutageException tooEarly() {
      return new LockOutageException("the clock is behind", Map.of(), false);
    }
  }

  private static final class ManagerOfWaiters extends PassingManager {
    private final LockManager ofWaiters;

    ManagerOfWaiters(LockManager right, LockManager ofWaiters) {
      super(right);
      this.ofWaiters = ofWaiters;
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return request.waitAtMost().orElse(Duration.ZERO).isZero()
          ? super.tryAcquireAsync(request)
          : ofWaiters.tryAcquireAsync(request);
    }

    @Override
    public void close() {
      ofWaiters.close();
      super.close();
    }

    @Override
    public void close(Duration grace) {
      Thread other = new Thread(() -> ofWaiters.close(grace));
      other.start();
      super.close(grace);
    }
  }
}
