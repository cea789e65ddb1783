package dev.holdfast.tck.broken;

import static java.util.Objects.requireNonNull;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.env.TckEnvironment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Mistakes that many tests show, each made for a test of the kit that no finer mistake fails. They
 * may break further rules.
 */
final class CrudeFlaws {
  private static final Duration PAUSE = Duration.ofMillis(1_200);
  private static final Duration LATE = Duration.ofMillis(50);
  private static final Duration PROBE = Duration.ofSeconds(1);

  private CrudeFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "tryAcquire without a wait pauses, and tries once more",
                Set.of("ACQ-6"),
                TriesTwice::new)
            .breaksMore(),
        Flaw.inManager("who asks for the third time gets the lock", Set.of("ACQ-4"), ThirdTime::new)
            .breaksMore(),
        Flaw.inManager(
                "the first request of a manager is granted", Set.of("ACQ-1"), FirstRequest::new)
            .breaksMore(),
        Flaw.inManager(
                "who waits for a lock of its own manager joins the holder",
                Set.of("ACQ-1"),
                JoinsHolder::new)
            .breaksMore(),
        Flaw.inManager("who has waited in vain takes the lock", Set.of("ACQ-1"), TakesInTheEnd::new)
            .breaksMore(),
        Flaw.inManager(
                "waiters of a manager that is closed are refused as by contention",
                Set.of("CLOSE-2"),
                ContendedWhenClosed::new)
            .breaksMore(),
        Flaw.inManager(
                "a waiter that gives up takes a turn with it", Set.of("WAIT-5"), TakesATurn::new)
            .breaksMore(),
        Flaw.inManager(
                "a manager waits for one name at a time", Set.of("WAIT-5"), OneNameAtATime::new)
            .breaksMore(),
        Flaw.inSettings(
                "waiters try again after an hour unless their own manager releases",
                Set.of("WAIT-5"),
                builder -> builder.retryDelay(Duration.ofHours(1)))
            .breaksMore(),
        Flaw.inManager(
                "a late release is a forced one",
                Set.of("REL-1"),
                manager ->
                    PassingManager.withLeases(
                        manager,
                        lease ->
                            new PassingLease(lease) {
                              @Override
                              public boolean release() {
                                return isHeld() ? super.release() : manager.forceRelease(name());
                              }
                            }))
            .breaksMore(),
        Flaw.inLease(
                "an extension that comes too late is said to be done",
                Set.of("EXT-2"),
                DoneThoughLate::new)
            .breaksMore(),
        Flaw.inLease("a lost lease is held for a while", Set.of("LOSS-3"), HeldForAWhile::new)
            .breaksMore(),
        Flaw.inManager(
                "a lease is held while the nodes know its owner",
                Set.of("LOSS-3"),
                right -> PassingManager.withLeases(right, lease -> new AskingNodes(lease, right)))
            .breaksMore(),
        Flaw.of("a lease goes by the wall clock alone", Set.of("LOSS-3"), CrudeFlaws::byWallClock)
            .breaksMore(),
        Flaw.inSettings(
                "callbacks have two threads",
                Set.of("LOSS-5"),
                builder -> builder.callbacks(daemons(2)))
            .breaksMore(),
        Flaw.inSettings(
                "callbacks run on the thread of renewals",
                Set.of("LOSS-5"),
                builder -> {
                  Scheduler timers = Scheduler.create("renewals");
                  builder.scheduler(timers).callbacks(task -> timers.schedule(0, task));
                })
            .breaksMore(),
        Flaw.inManager(
            "check() tries to take the lock",
            Set.of("ACQ-23"),
            right ->
                new PassingManager(right) {
                  @Override
                  public void check(LockRequest request) {
                    super.check(request);
                    LockRequest probe = LockRequest.of(request.name(), request.ttl());
                    right.tryAcquireAsync(probe).join().ifPresent(Lease::close);
                  }
                }),
        Flaw.inManager(
            "a waiter tries once before it waits",
            Set.of("WAIT-12"),
            right ->
                new PassingManager(right) {
                  @Override
                  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
                    LockRequest once = LockRequest.of(request.name(), request.ttl());
                    Optional<Lease> lease =
                        waits(request) ? super.tryAcquireAsync(once).join() : Optional.empty();
                    return lease.isPresent()
                        ? CompletableFuture.completedFuture(lease)
                        : super.tryAcquireAsync(request);
                  }
                }),
        Flaw.of(
                "a waiter's fencing token is drawn when it begins to wait",
                Set.of("ACQ-12"),
                CrudeFlaws::drawingEarly)
            .breaksMore(),
        Flaw.inManager("a manager takes a lock when it is opened", Set.of("OPEN-4"), Probing::new)
            .breaksMore());
  }

  private static ExecutorService daemons(int count) {
    return Executors.newFixedThreadPool(
        count,
        task -> {
          Thread thread = new Thread(task, "callbacks");
          thread.setDaemon(true);
          return thread;
        });
  }

  private static boolean waits(LockRequest request) {
    return request.waitAtMost().map(wait -> !wait.isZero()).orElse(false);
  }

  private static final class TriesTwice extends PassingManager {
    TriesTwice(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Optional<Lease> lease = super.tryAcquire(request);
      if (lease.isPresent() || waits(request)) {
        return lease;
      }
      new CountDownLatch(1).await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
      return super.tryAcquire(request);
    }
  }

  private static final class ThirdTime extends PassingManager {
    private final Map<String, Integer> refused = new ConcurrentHashMap<>();

    ThirdTime(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Optional<Lease> lease = super.tryAcquire(request);
      if (lease.isPresent() || waits(request)) {
        return lease;
      }
      if (refused.merge(request.name(), 1, Integer::sum) < 3) {
        return lease;
      }
      right.forceRelease(request.name());
      return super.tryAcquire(request);
    }
  }

  private static final class FirstRequest extends PassingManager {
    private final AtomicBoolean isFirst = new AtomicBoolean(true);

    FirstRequest(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Optional<Lease> lease = super.tryAcquire(request);
      if (isFirst.getAndSet(false) && lease.isEmpty()) {
        right.forceRelease(request.name());
        return super.tryAcquire(request);
      }
      return lease;
    }
  }

  private static final class JoinsHolder extends PassingManager {
    private final Map<String, Lease> held = new ConcurrentHashMap<>();

    JoinsHolder(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      held.put(granted.name(), granted);
      return granted;
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Lease present = held.get(request.name());
      return waits(request) && present != null && present.isHeld()
          ? Optional.of(present)
          : super.tryAcquire(request);
    }
  }

  private static final class TakesInTheEnd extends PassingManager {
    TakesInTheEnd(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Optional<Lease> lease = super.tryAcquire(request);
      if (lease.isPresent() || !waits(request)) {
        return lease;
      }
      right.forceRelease(request.name());
      return super.tryAcquire(request);
    }
  }

  private static final class ContendedWhenClosed extends PassingManager {
    ContendedWhenClosed(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      try {
        return super.acquire(request);
      } catch (IllegalStateException closed) {
        throw new LockContendedException(request.name(), new LockVotes(0, 1, 0), Duration.ZERO);
      }
    }
  }

  private static final class TakesATurn extends PassingManager {
    private final Map<String, Boolean> takesATurn = new ConcurrentHashMap<>();

    TakesATurn(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      try {
        Lease lease = super.acquire(request);
        if (takesATurn.remove(request.name()) != null) {
          lease.release();
          new CountDownLatch(1).await();
        }
        return lease;
      } catch (LockContendedException e) {
        takesATurn.put(request.name(), true);
        throw e;
      }
    }
  }

  private static final class OneNameAtATime extends PassingManager {
    private volatile CompletableFuture<?> last = CompletableFuture.completedFuture(null);

    OneNameAtATime(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> future = super.tryAcquireAsync(request);
      last = future;
      return future;
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      CountDownLatch over = new CountDownLatch(1);
      last.whenComplete((lease, failure) -> over.countDown());
      over.await();
      return super.acquire(request);
    }
  }

  private static final class DoneThoughLate extends PassingLease {
    DoneThoughLate(Lease right) {
      super(right);
    }

    @Override
    public void extend(Duration ttl) {
      boolean wasHeld = isHeld();
      try {
        super.extend(ttl);
      } catch (LockLostException lost) {
        if (!wasHeld || lost.reason() != LossReason.EXPIRED) {
          throw lost;
        }
      }
    }
  }

  private static final class HeldForAWhile extends PassingLease {
    private final AtomicLong lost = new AtomicLong();

    HeldForAWhile(Lease right) {
      super(right);
    }

    @Override
    public boolean isHeld() {
      if (super.isHeld()) {
        return true;
      }
      lost.compareAndSet(0, System.nanoTime());
      return System.nanoTime() - lost.get() < LATE.toNanos();
    }
  }

  private static final class AskingNodes extends PassingLease {
    private final LockManager nodes;
    private final Optional<String> owner;

    AskingNodes(Lease right, LockManager nodes) {
      super(right);
      this.nodes = nodes;
      this.owner = owner();
    }

    private Optional<String> owner() {
      return nodes.inspect(name()).map(status -> status.ownerLabel());
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || (owner.isPresent() && owner().equals(owner));
    }
  }

  private static FakeEnvironment byWallClock() {
    AtomicReference<Clock> clock = new AtomicReference<>(Clock.system());
    return new FakeEnvironment(
        Parts.RIGHT
            .withTime(
                time -> {
                  clock.set(time);
                  return time;
                })
            .withManagers(
                right ->
                    PassingManager.withLeases(
                        right.get(),
                        lease -> new ByWallClock(lease, requireNonNull(clock.get())))));
  }

  private static final class ByWallClock extends PassingLease {
    private final Clock clock;
    private final ClockReading end;

    ByWallClock(Lease right, Clock clock) {
      super(right);
      this.clock = clock;
      this.end = clock.now().plusNanos(right.remaining().toNanos());
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || clock.wallMicros() < end.wallMicros();
    }
  }

  private static TckEnvironment drawingEarly() {
    String url = "memory:" + UUID.randomUUID();
    Map<String, Long> counters = new ConcurrentHashMap<>();
    return options ->
        new PassingManager(LockManager.open(url, options)) {
          @Override
          Lease lease(Lease granted) {
            return with(draw(granted.name()), granted);
          }

          @Override
          public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
            long token = draw(request.name());
            return right.tryAcquireAsync(request).thenApply(got -> got.map(l -> with(token, l)));
          }

          private long draw(String name) {
            return counters.merge(name, 1L, Long::sum);
          }

          private static Lease with(long token, Lease granted) {
            return new PassingLease(granted) {
              @Override
              public OptionalLong fencingToken() {
                return OptionalLong.of(token);
              }
            };
          }
        };
  }

  private static final class Probing extends PassingManager {
    Probing(LockManager right) {
      super(right);
      try {
        right.tryAcquire("probe " + System.nanoTime(), PROBE).ifPresent(Lease::close);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
