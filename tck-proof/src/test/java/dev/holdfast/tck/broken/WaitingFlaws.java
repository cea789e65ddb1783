package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** Flaws of waiters: how long they wait, in which order, and with which result. */
final class WaitingFlaws {
  private static final Duration DAY = Duration.ofDays(1);

  private WaitingFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "an interrupt that came before is forgotten",
                Set.of("WAIT-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        Thread.interrupted();
                        return super.tryAcquire(request);
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a future whose time is over tries on",
                Set.of("WAIT-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public CompletableFuture<Optional<Lease>> tryAcquireAsync(
                          LockRequest request) {
                        CompletableFuture<Optional<Lease>> future = super.tryAcquireAsync(request);
                        if (request
                            .waitAtMost()
                            .filter(wait -> wait.compareTo(DAY) < 0)
                            .isPresent()) {
                          future.thenAccept(
                              lease -> {
                                if (lease.isEmpty()) {
                                  super.tryAcquireAsync(request.waitForever());
                                }
                              });
                        }
                        return future;
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "whoever would wait for ever waits for a moment",
                Set.of("WAIT-2", "WAIT-5", "WAIT-6", "WAIT-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      LockRequest request(LockRequest asked) {
                        return asked
                            .waitAtMost()
                            .filter(wait -> wait.compareTo(DAY) >= 0)
                            .map(forEver -> asked.waitAtMost(Duration.ofMillis(20)))
                            .orElse(asked);
                      }

                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        return super.acquire(
                            request.waitAtMost().isPresent()
                                ? request
                                : request.waitAtMost(Duration.ofMillis(20)));
                      }
                    })
            .asVariation(),
        inWait("a wait lasts longer than asked", Set.of("WAIT-1"), wait -> wait.plusMillis(1_500)),
        inWait("a wait is given up at half its time", Set.of("WAIT-2"), wait -> wait.dividedBy(2)),
        Flaw.inManager(
                "an attempt under way is cut short at the end of the wait",
                Set.of("WAIT-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        if (request
                            .waitAtMost()
                            .filter(wait -> !wait.isZero() && wait.compareTo(DAY) < 0)
                            .isEmpty()) {
                          return super.tryAcquire(request);
                        }
                        CompletableFuture<Optional<Lease>> future = super.tryAcquireAsync(request);
                        try {
                          return future.get(
                              request.waitAtMost().orElseThrow().toNanos(), TimeUnit.NANOSECONDS);
                        } catch (TimeoutException over) {
                          future.cancel(true);
                          return Optional.empty();
                        } catch (ExecutionException e) {
                          throw (RuntimeException) e.getCause();
                        } catch (InterruptedException e) {
                          future.cancel(true);
                          throw e;
                        }
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "one last attempt is made when the wait is over",
                Set.of("WAIT-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        Optional<Lease> got = super.tryAcquire(request);
                        return got.isPresent()
                                || request.waitAtMost().filter(wait -> !wait.isZero()).isEmpty()
                            ? got
                            : super.tryAcquire(request.waitAtMost(Duration.ZERO));
                      }
                    })
            .asVariation(),
        Flaw.inSettings(
            "whoever waits asks all the time",
            Set.of("WAIT-6", "WAIT-10"),
            builder -> builder.random(new NoPauses())),
        Flaw.inSettings(
                "pauses are between the delay and twice the delay",
                Set.of("WAIT-6"),
                builder -> builder.random(new LongPauses()))
            .asVariation(),
        Flaw.inSettings(
            "an outage is slept through",
            Set.of("WAIT-6"),
            builder -> builder.random(new LongPauseAfterOutages())),
        Flaw.of(
                "a release that comes right after a future is overlooked for ever",
                Set.of("WAIT-5"),
                Overlooking.PARTS)
            .asVariation(),
        Flaw.inManager(
            "the turn of one who gives up is nobody's",
            Set.of("WAIT-10", "WAIT-15", "WAIT-5"),
            right ->
                new OwnWaitQueue(right) {
                  @Override
                  boolean isPassedOn() {
                    return false;
                  }
                }),
        Flaw.inManager(
            "the last to come is the first to be served",
            Set.of("WAIT-10", "WAIT-15", "WAIT-3"),
            right ->
                new OwnWaitQueue(right) {
                  @Override
                  CompletableFuture<Void> next(Deque<CompletableFuture<Void>> line) {
                    return line.getLast();
                  }
                }),
        Flaw.of(
            "waiters stand in many lines",
            Set.of("ACQ-8", "WAIT-10", "WAIT-3", "WAIT-4", "WAIT-8"),
            Parts.RIGHT.withManagers(Many::new)),
        Flaw.of(
                "whoever does not wait overtakes those who do",
                Set.of("ACQ-8", "WAIT-10", "WAIT-8"),
                Parts.RIGHT.withManagers(Overtaking::new))
            .asVariation(),
        Flaw.inManager(
            "an attempt without a wait is made three times",
            Set.of("ACQ-6"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Optional<Lease> tryAcquire(LockRequest request)
                      throws InterruptedException {
                    for (int i = 0; request.waitAtMost().isEmpty() && i < 2; i++) {
                      try {
                        Optional<Lease> got = super.tryAcquire(request);
                        if (got.isPresent()) {
                          return got;
                        }
                      } catch (LockOutageException e) {
                        // perhaps the next time
                      }
                    }
                    return super.tryAcquire(request);
                  }
                }),
        Flaw.inManager(
            "an interrupt is swallowed",
            Set.of("WAIT-7"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(LockRequest request) {
                    while (true) {
                      try {
                        return super.acquire(request);
                      } catch (InterruptedException swallowed) {
                        // and waits on
                      }
                    }
                  }
                }),
        Flaw.inManager(
            "one waiter's interrupt sends another away empty-handed",
            Set.of("WAIT-7"),
            right ->
                new PassingManager(right) {
                  private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();

                  @Override
                  public Lease acquire(LockRequest request) throws InterruptedException {
                    Waiter me = new Waiter(Thread.currentThread(), request.name());
                    waiters.add(me);
                    try {
                      return super.acquire(request);
                    } catch (InterruptedException e) {
                      waiters.remove(me);
                      if (me.sentAway) {
                        throw new LockContendedException(
                            request.name(), new LockVotes(0, 1, 0), Duration.ZERO);
                      }
                      waiters.stream()
                          .filter(waiter -> waiter.name.equals(me.name))
                          .findFirst()
                          .ifPresent(Waiter::sendAway);
                      throw e;
                    } finally {
                      waiters.remove(me);
                    }
                  }
                }),
        Flaw.inManager(
            "a future that is cancelled goes on",
            Set.of("WAIT-9"),
            right ->
                new PassingManager(right) {
                  @Override
                  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
                    return super.tryAcquireAsync(request).thenApply(lease -> lease);
                  }
                }));
  }

  private static Flaw inWait(String mistake, Set<String> rules, UnaryOperator<Duration> wait) {
    return Flaw.inManager(
        mistake,
        rules,
        right ->
            new PassingManager(right) {
              @Override
              LockRequest request(LockRequest asked) {
                return asked
                    .waitAtMost()
                    .filter(w -> !w.isZero() && w.compareTo(DAY) < 0)
                    .map(w -> asked.waitAtMost(wait.apply(w)))
                    .orElse(asked);
              }
            });
  }

  /** Takes off what the core adds to be random, and nearly all of the rest. */
  private static final class NoPauses implements RandomGenerator {
    @Override
    public long nextLong() {
      return 0;
    }

    @Override
    public long nextLong(long bound) {
      return 200_000 - bound;
    }
  }

  /** Adds as much again as the core takes for the shortest pause, and doubles what is random. */
  private static final class LongPauses implements RandomGenerator {
    @Override
    public long nextLong() {
      return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public long nextLong(long bound) {
      return bound + 2 * ThreadLocalRandom.current().nextLong(bound);
    }
  }

  /** Knows outages by their pause, which is of a second whatever the retry delay is. */
  private static final class LongPauseAfterOutages implements RandomGenerator {
    private static final long OF_A_SECOND = 500_000_001;

    @Override
    public long nextLong() {
      return ThreadLocalRandom.current().nextLong();
    }

    @Override
    public long nextLong(long bound) {
      return ThreadLocalRandom.current().nextLong(bound)
          + (bound == OF_A_SECOND ? DAY.toNanos() : 0);
    }
  }

  private static final class Waiter {
    private final Thread thread;
    private final String name;
    private volatile boolean sentAway;

    Waiter(Thread thread, String name) {
      this.thread = thread;
      this.name = name;
    }

    void sendAway() {
      sentAway = true;
      thread.interrupt();
    }
  }

  /** Has one manager for those who wait, and another for those who do not. */
  private static final class Overtaking extends PassingManager {
    private final LockManager hasty;

    Overtaking(Supplier<LockManager> managers) {
      super(managers.get());
      hasty = managers.get();
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      return request.waitAtMost().isPresent()
          ? super.tryAcquire(request)
          : hasty.tryAcquire(request);
    }

    @Override
    public void close() {
      super.close();
      hasty.close();
    }

    @Override
    public void close(Duration grace) {
      super.close(grace);
      hasty.close(grace);
    }
  }

  /** Has many managers, and gives each that waits the next of them. */
  private static final class Many extends PassingManager {
    private static final int MANY = 30;

    private final List<LockManager> others;
    private final AtomicInteger turns = new AtomicInteger();

    Many(Supplier<LockManager> managers) {
      super(managers.get());
      others = Stream.generate(managers).limit(MANY).toList();
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      return request.waitAtMost().isPresent()
          ? other().tryAcquire(request)
          : super.tryAcquire(request);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      return other().acquire(request);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return request.waitAtMost().isPresent()
          ? other().tryAcquireAsync(request)
          : super.tryAcquireAsync(request);
    }

    @Override
    public void close() {
      super.close();
      others.forEach(LockManager::close);
    }

    @Override
    public void close(Duration grace) {
      super.close(grace);
      others.forEach(manager -> manager.close(grace));
    }

    private LockManager other() {
      return others.get(Math.floorMod(turns.getAndIncrement(), MANY));
    }
  }
}
