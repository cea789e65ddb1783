package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LockedTask;
import dev.holdfast.Locks;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Release;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.SmallRedlock.Held;
import dev.holdfast.tck.env.TckEnvironment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Flaws of managers with requests, leases and closing. */
final class ManagerFlaws {
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS);

  private ManagerFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "anybody can change the declaration",
                Set.of("CAP-1"),
                right ->
                    new PassingManager(right) {
                      private final Set<LockCapability> all = EnumSet.copyOf(right.capabilities());

                      @Override
                      public Set<LockCapability> capabilities() {
                        return all;
                      }
                    })
            .asVariation(),
        Flaw.of(
                "two nodes are called fault-tolerant",
                Set.of("CAP-1"),
                () -> new FakeEnvironment(2, Parts.RIGHT.withManagers(FaultTolerant::new)))
            .asVariation(),
        Flaw.inLease(
                "there is a fencing token, and nobody knows what it is worth",
                Set.of("CAP-2"),
                right -> fenced(right, 7))
            .asVariation(),
        inClosing(
                "leases are renewed though their manager is closed",
                Set.of("CLOSE-1"),
                (redlock, held) -> renew(redlock, held, 5))
            .asVariation(),
        Flaw.inManager(
                "executeLocked keeps the lock",
                Set.of("ACQ-13", "ACQ-18"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public <T, X extends Exception> T executeLocked(
                          LockRequest request, LockedTask<T, X> task)
                          throws InterruptedException, X {
                        return Locks.executeHolding(this, acquire(request), task);
                      }
                    })
            .asVariation(),
        inName("names are folded", name -> name.toLowerCase(Locale.ROOT)),
        inName("names are trimmed", String::strip).asVariation(),
        Flaw.inManager("whoever holds the lock gets it again", Set.of("ACQ-8"), Reentrant::new),
        Flaw.inManager(
                "a lock of this manager is said to be another owner's",
                Set.of("ACQ-8"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        try {
                          return super.acquire(request);
                        } catch (LockContendedException e) {
                          throw new LockContendedException(
                              request.name(), new LockVotes(0, 1, 0), e.waited(), "another", false);
                        }
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "keepAliveUpTo is not heeded",
            Set.of("KEEP-1", "EXT-8"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    LockRequest plain = withoutMaxHold(asked);
                    return plain;
                  }
                }),
        Flaw.inManager(
            "a lease is renewed for four times as long as it may be held",
            Set.of("EXT-8", "KEEP-3", "VAL-7"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    return asked
                        .keepAliveUpTo()
                        .map(hold -> asked.keepAliveUpTo(hold.multipliedBy(4)))
                        .orElse(asked);
                  }
                }),
        Flaw.inManager(
            "every lease is remembered, so that none is ever forgotten",
            Set.of("KEEP-4"),
            right ->
                new PassingManager(right) {
                  private final Queue<Lease> leases = new ConcurrentLinkedQueue<>();

                  @Override
                  Lease lease(Lease granted) {
                    leases.add(granted);
                    return granted;
                  }
                }),
        Flaw.inLease("an extension revives", Set.of("EXT-2", "LOSS-9"), Reviving::new),
        Flaw.inManager(
            "executeLocked lets the task work on when the lease is lost",
            Set.of("ACQ-13"),
            right ->
                new PassingManager(right) {
                  @Override
                  public <T, X extends Exception> T executeLocked(
                      LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
                    try (Lease lease = new WithoutNotice(acquire(request))) {
                      return Locks.executeHolding(this, lease, task);
                    }
                  }
                }),
        Flaw.inManager(
                "executeLocked keeps the lock when the task throws",
                Set.of("ACQ-13"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public <T, X extends Exception> T executeLocked(
                          LockRequest request, LockedTask<T, X> task)
                          throws InterruptedException, X {
                        boolean[] thrown = {false};
                        return new PassingManager(right) {
                          @Override
                          Lease lease(Lease granted) {
                            return new PassingLease(granted) {
                              @Override
                              public void close() {
                                if (!thrown[0]) {
                                  super.close();
                                }
                              }
                            };
                          }
                        }.executeLocked(
                            request,
                            lease -> {
                              thrown[0] = true;
                              T result = task.call(lease);
                              thrown[0] = false;
                              return result;
                            });
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "what is not declared is done anyway",
            Set.of("CAP-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Set<LockCapability> capabilities() {
                    Set<LockCapability> some = EnumSet.copyOf(super.capabilities());
                    some.removeAll(
                        Set.of(
                            LockCapability.EXTENSION,
                            LockCapability.KEEP_ALIVE,
                            LockCapability.HOLD_AT_LEAST,
                            LockCapability.INSPECTION,
                            LockCapability.FORCE_RELEASE));
                    return some;
                  }
                }),
        Flaw.inManager(
            "what is wrong with a ttl or a name is not said", Set.of("ERR-4"), TightLipped::new),
        inClosing(
            "closing a manager deletes the keys of its leases",
            Set.of("CLOSE-1"),
            (redlock, held) -> {
              held.values().forEach(lock -> redlock.release(Release.deletionOf(lock)));
              redlock.members().close();
            }),
        Flaw.of(
            "a manager that was closed begins again when it is asked",
            Set.of("CLOSE-2"),
            Parts.RIGHT.withManagers(Reopening::new)),
        Flaw.inLease("leases go on when their manager is closed", Set.of("CLOSE-2"), Unclosed::new)
            .asVariation(),
        Flaw.inManager(
            "holders are given no grace",
            Set.of("CLOSE-3"),
            right ->
                new PassingManager(right) {
                  @Override
                  public void close(Duration grace) {
                    super.close();
                  }
                }),
        Flaw.inManager(
                "an interrupt does not end a grace",
                Set.of("CLOSE-3"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public void close(Duration grace) {
                        CompletableFuture.runAsync(
                                () -> super.close(grace), task -> new Thread(task).start())
                            .join();
                      }
                    })
            .asVariation(),
        Flaw.of(
            "the timer's thread stays when the manager is closed",
            Set.of("CLOSE-4"),
            ManagerFlaws::withTimersThatStay),
        Flaw.of(
                "all grants have the same fencing token",
                Set.of("ACQ-12"),
                () -> inMemory(right -> fenced(right, 7)))
            .asVariation());
  }

  private static TckEnvironment withTimersThatStay() {
    Queue<Scheduler> left = new ConcurrentLinkedQueue<>();
    Parts parts =
        Parts.RIGHT.withSettings(
            builder -> {
              Scheduler timer = Scheduler.create("holdfast-timer");
              left.add(timer);
              builder.scheduler(timer);
            });
    return new FakeEnvironment(parts) {
      @Override
      public void close() {
        super.close();
        left.forEach(Scheduler::close);
      }
    };
  }

  /** A right manager in memory, with leases that are not. */
  private static TckEnvironment inMemory(UnaryOperator<Lease> lease) {
    String url = "memory:" + UUID.randomUUID();
    return options ->
        new PassingManager(LockManager.open(url, options)) {
          @Override
          Lease lease(Lease granted) {
            return lease.apply(granted);
          }
        };
  }

  private static Lease fenced(Lease right, long token) {
    return new PassingLease(right) {
      @Override
      public OptionalLong fencingToken() {
        return OptionalLong.of(token);
      }
    };
  }

  private static Flaw inName(String mistake, UnaryOperator<String> change) {
    return Flaw.inManager(
        mistake,
        Set.of("ACQ-7"),
        right ->
            new PassingManager(right) {
              @Override
              LockRequest request(LockRequest asked) {
                return renamed(asked, change.apply(asked.name()));
              }

              @Override
              public Optional<LockStatus> inspect(String name) {
                return super.inspect(change.apply(name));
              }

              @Override
              public boolean forceRelease(String name) {
                return super.forceRelease(change.apply(name));
              }
            });
  }

  /**
   * Puts a mistake into the end of a manager.
   *
   * @param closing is given the locks that are held then, by their tokens
   */
  private static Flaw inClosing(
      String mistake, Set<String> rules, BiConsumer<SmallRedlock, Map<String, Held>> closing) {
    return Flaw.inRedlock(
        mistake,
        rules,
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              private final Map<String, Held> open = new ConcurrentHashMap<>();

              @Override
              public CompletableFuture<Outcome> attempt(Attempt attempt) {
                return super.attempt(attempt)
                    .thenApply(
                        outcome -> {
                          if (outcome instanceof Held held) {
                            open.put(held.token(), held);
                          }
                          return outcome;
                        });
              }

              @Override
              Collection<Member> releaseFrom(Held held) {
                open.remove(held.token());
                return super.releaseFrom(held);
              }

              @Override
              public void close() {
                closing.accept(this, open);
              }
            });
  }

  /** Renews locks for a short time, so many times. */
  private static void renew(SmallRedlock redlock, Map<String, Held> open, int times) {
    if (times == 0 || open.isEmpty()) {
      redlock.members().close();
      return;
    }
    open.values().forEach(held -> redlock.askToExtend(held, Duration.ofSeconds(1)));
    LATER.execute(() -> renew(redlock, open, times - 1));
  }

  private static LockRequest renamed(LockRequest asked, String name) {
    LockRequest renamed = withoutMaxHold(LockRequest.of(name, asked.ttl()), asked);
    return asked.keepAliveUpTo().map(renamed::keepAliveUpTo).orElse(renamed);
  }

  private static LockRequest withoutMaxHold(LockRequest asked) {
    return withoutMaxHold(LockRequest.of(asked.name(), asked.ttl()), asked);
  }

  private static LockRequest withoutMaxHold(LockRequest plain, LockRequest asked) {
    LockRequest waiting = asked.waitAtMost().map(plain::waitAtMost).orElse(plain);
    LockRequest holding = waiting.holdAtLeast(asked.holdAtLeast());
    return asked.ownerLabel().map(holding::ownerLabel).orElse(holding);
  }

  /** Declares what two nodes cannot be. */
  private static final class FaultTolerant extends PassingManager {
    FaultTolerant(Supplier<LockManager> right) {
      super(right.get());
    }

    @Override
    public Set<LockCapability> capabilities() {
      Set<LockCapability> all = EnumSet.copyOf(super.capabilities());
      all.add(LockCapability.FAULT_TOLERANT);
      return Collections.unmodifiableSet(all);
    }
  }

  /** Gives a thread again what it has. */
  private static final class Reentrant extends PassingManager {
    private final Map<String, Holding> held = new ConcurrentHashMap<>();

    private record Holding(Thread thread, WeakReference<Lease> lease) {}

    Reentrant(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Holding holding = held.get(request.name());
      if (holding != null && holding.thread() == Thread.currentThread()) {
        Lease mine = holding.lease().get();
        if (mine != null && mine.isHeld()) {
          return Optional.of(mine);
        }
      }
      Optional<Lease> got = super.tryAcquire(request);
      got.ifPresent(
          mine ->
              held.put(
                  request.name(), new Holding(Thread.currentThread(), new WeakReference<>(mine))));
      return got;
    }
  }

  /** Lives on for as long as it is asked to, whatever has become of the lock. */
  private static final class Reviving extends PassingLease {
    private volatile long end = System.nanoTime();

    Reviving(Lease right) {
      super(right);
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || System.nanoTime() - end < 0;
    }

    @Override
    public void requireHeld() {
      if (!isHeld()) {
        super.requireHeld();
      }
    }

    @Override
    public void extend(Duration ttl) {
      if (super.isHeld()) {
        super.extend(ttl);
      } else {
        end = System.nanoTime() + ttl.toNanos();
      }
    }
  }

  /** Leaves out what its users need to know. */
  private static final class TightLipped extends PassingManager {
    TightLipped(LockManager right) {
      super(right);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      try {
        return super.inspect(name);
      } catch (LockConfigurationException e) {
        throw String.valueOf(e.getMessage()).contains("1024")
            ? new LockConfigurationException("bad name")
            : e;
      }
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        return super.tryAcquire(request);
      } catch (LockConfigurationException e) {
        throw String.valueOf(e.getMessage()).contains("ttl")
            ? new LockConfigurationException("bad request")
            : e;
      }
    }
  }

  /** Opens another manager when it is asked for a lock after it was closed. */
  private static final class Reopening extends PassingManager {
    private final Supplier<LockManager> managers;
    private final Queue<LockManager> reopened = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    Reopening(Supplier<LockManager> managers) {
      super(managers.get());
      this.managers = managers;
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      if (!closed) {
        return super.tryAcquire(request);
      }
      LockManager another = managers.get();
      reopened.add(another);
      return another.tryAcquire(request);
    }

    @Override
    public void close() {
      closed = true;
      super.close();
      reopened.forEach(LockManager::close);
    }

    @Override
    public void close(Duration grace) {
      closed = true;
      super.close(grace);
    }
  }

  /** Does not take the end of its manager for its own. */
  private static final class Unclosed extends PassingLease {
    Unclosed(Lease right) {
      super(right);
    }

    @Override
    public boolean isHeld() {
      return super.isHeld() || isClosed();
    }

    @Override
    public void requireHeld() {
      if (!isClosed()) {
        super.requireHeld();
      }
    }

    @Override
    public CompletableFuture<LossReason> onLoss() {
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      super.onLoss()
          .thenAccept(
              reason -> {
                if (reason != LossReason.CLOSED) {
                  lost.complete(reason);
                }
              });
      return lost;
    }

    private boolean isClosed() {
      try {
        super.requireHeld();
        return false;
      } catch (LockLostException e) {
        return e.reason() == LossReason.CLOSED;
      } catch (IllegalStateException released) {
        return false;
      }
    }
  }
}
