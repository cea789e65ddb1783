package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reports to listeners, and views of nodes and leases. */
final class ListenerFlaws {
  private static final System.Logger LOG = System.getLogger(ListenerFlaws.class.getName());

  private ListenerFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inListener(
            "a request that gets no lock is not reported",
            Set.of("LISTEN-1"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onNotGranted(String name, Failure failure, long waited) {}
                }),
        Flaw.inListener(
                "an outage is reported as contention",
                Set.of("LISTEN-1"),
                right ->
                    new PassingListener(right) {
                      @Override
                      public void onNotGranted(String name, Failure failure, long waited) {
                        super.onNotGranted(
                            name, failure == Failure.OUTAGE ? Failure.CONTENDED : failure, waited);
                      }
                    })
            .asVariation(),
        Flaw.inListener(
            "a loss is reported as a release",
            Set.of("LISTEN-2"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onLost(String name, long leaseId, LossReason reason, long held) {
                    super.onReleased(name, leaseId, held, true);
                  }
                }),
        Flaw.inListener(
                "a release that nobody answered is reported as confirmed",
                Set.of("LISTEN-2"),
                right ->
                    new PassingListener(right) {
                      @Override
                      public void onReleased(
                          String name, long leaseId, long held, boolean confirmed) {
                        super.onReleased(name, leaseId, held, true);
                      }
                    })
            .asVariation(),
        Flaw.inListener(
            "a renewal is reported after the end of its lease",
            Set.of("LISTEN-3"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onReleased(String name, long leaseId, long held, boolean confirmed) {
                    super.onReleased(name, leaseId, held, confirmed);
                    super.onRenewal(name, leaseId, Renewal.LOST, 0);
                  }
                }),
        Flaw.inManager(
            "the caller gets what a listener throws", Set.of("LISTEN-4"), Rethrowing::new),
        Flaw.inManager(
            "a listener may block, on a thread that is lent to it",
            Set.of("LISTEN-5"),
            Lending::new),
        Flaw.inListener(
            "renewals are not reported",
            Set.of("LISTEN-7"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onRenewal(String name, long leaseId, Renewal outcome, long took) {}
                }),
        Flaw.inManager(
            "a registration that is closed goes on",
            Set.of("LISTEN-8"),
            right ->
                new PassingManager(right) {
                  @Override
                  public LockListener.Registration addListener(LockListener listener) {
                    right.addListener(listener);
                    return () -> {};
                  }
                }),
        Flaw.inManager(
            "listeners are called under a lock", Set.of("LISTEN-16"), CallingUnderALock::new),
        Flaw.of(
                "adoptions that fail are not reported",
                Set.of("LISTEN-1"),
                Parts.TRANSFERRING.withManagers(right -> new SilentOnAdoptions(right.get())))
            .asVariation(),
        Flaw.inManager(
                "a listener does not learn of requests that wait already",
                Set.of("LISTEN-11"),
                SilentOnEarlierRequests::new)
            .asVariation(),
        Flaw.inManager(
            "the end of a lease is reported to listeners that were added during its life",
            Set.of("LISTEN-15"),
            ReportingToLaterOnes::new),
        Flaw.inListener(
            "an overrun is reported with each release",
            Set.of("LISTEN-10"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onReleased(String name, long leaseId, long held, boolean confirmed) {
                    super.onReleased(name, leaseId, held, confirmed);
                    super.onOverrun(name, leaseId, 1);
                  }

                  @Override
                  public void onOverrun(String name, long leaseId, long overrun) {}
                }),
        Flaw.inListener(
            "a load of zero is not reported",
            Set.of("LISTEN-11"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onLoad(int waiting, int inFlight) {
                    if (waiting + inFlight > 0) {
                      super.onLoad(waiting, inFlight);
                    }
                  }
                }),
        Flaw.inListener(
                "a release is reported twice",
                Set.of("LISTEN-2", "LISTEN-3"),
                right ->
                    new PassingListener(right) {
                      @Override
                      public void onReleased(
                          String name, long leaseId, long held, boolean confirmed) {
                        super.onReleased(name, leaseId, held, confirmed);
                        super.onReleased(name, leaseId, held, confirmed);
                      }
                    })
            .asVariation(),
        Flaw.inListener("each slow call is logged", Set.of("LISTEN-9"), LoggingEachCall::new),
        Flaw.inListener("each failure is logged", Set.of("LISTEN-4"), LoggingEachFailure::new)
            .asVariation(),
        Flaw.inManager(
            "a lease lasts while a listener blocks", Set.of("LISTEN-6"), HeldWhileBlocked::new),
        Flaw.inManager(
                "nodes are shown twice",
                Set.of("LISTEN-12", "NODES-2"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public List<LockNode> nodes() {
                        return Stream.concat(right.nodes().stream(), right.nodes().stream())
                            .toList();
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "ping takes no time to answer",
                Set.of("NODES-4"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean ping(Duration timeout) {
                        return timeout.isZero() || right.ping(timeout);
                      }
                    })
            .asVariation(),
        Flaw.inManager("a ping leaves its node unknown", Set.of("NODES-4"), UnknownBeforeLocks::new)
            .asVariation(),
        Flaw.inListener(
            "votes against are not reported",
            Set.of("LISTEN-12"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onVote(String node, Vote vote) {
                    if (vote == Vote.GRANTED) {
                      super.onVote(node, vote);
                    }
                  }
                }),
        Flaw.inListener(
            "nodes that go down are not reported",
            Set.of("NODES-5"),
            right ->
                new PassingListener(right) {
                  @Override
                  public void onNode(String node, LockNode.State state, String cause) {
                    if (state != LockNode.State.DOWN) {
                      super.onNode(node, state, cause);
                    }
                  }
                }),
        Flaw.inManager(
            "nodes are asked before they are shown",
            Set.of("NODES-1"),
            right ->
                new PassingManager(right) {
                  @Override
                  public List<LockNode> nodes() {
                    right.ping(Duration.ofMillis(100));
                    return right.nodes();
                  }
                }),
        Flaw.inManager(
            "nodes are always shown as up",
            Set.of("NODES-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public List<LockNode> nodes() {
                    return right.nodes().stream().map(ListenerFlaws::asUp).toList();
                  }
                }),
        Flaw.inManager(
            "leases are shown after their end", Set.of("NODES-3"), RememberedLeases::new),
        Flaw.inManager(
            "ping says what nodes() shows",
            Set.of("NODES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean ping(Duration timeout) {
                    return right.ping(timeout)
                        || right.nodes().stream().allMatch(ListenerFlaws::isUp);
                  }
                }));
  }

  private static boolean isUp(LockNode node) {
    return node.state() == LockNode.State.UP;
  }

  private static LockNode asUnknown(LockNode node) {
    return new LockNode(node.address(), LockNode.State.UNKNOWN, node.since(), "", Optional.empty());
  }

  private static LockNode asUp(LockNode node) {
    return new LockNode(node.address(), LockNode.State.UP, node.since(), "", Optional.empty());
  }

  /** Logs each call that takes long. */
  private static final class LoggingEachCall extends PassingListener {
    LoggingEachCall(LockListener right) {
      super(right);
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      long begun = System.nanoTime();
      super.onGranted(name, leaseId, waited, votes, margin);
      if (System.nanoTime() - begun > 20_000_000) {
        LOG.log(System.Logger.Level.WARNING, "a LockListener took long");
      }
    }
  }

  /** Logs all that is thrown. */
  private static final class LoggingEachFailure extends PassingListener {
    LoggingEachFailure(LockListener right) {
      super(right);
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      try {
        super.onGranted(name, leaseId, waited, votes, margin);
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.WARNING, "a LockListener failed", e);
        throw e;
      }
    }
  }

  /** Gives out leases that never end once a listener has blocked. */
  private static final class HeldWhileBlocked extends PassingManager {
    private static final long LONG_NANOS = 100_000_000;

    private volatile boolean hasBlocked;

    HeldWhileBlocked(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
              long begun = System.nanoTime();
              super.onGranted(name, leaseId, waited, votes, margin);
              hasBlocked |= System.nanoTime() - begun > LONG_NANOS;
            }
          });
    }

    @Override
    Lease lease(Lease granted) {
      return !hasBlocked
          ? granted
          : new PassingLease(granted) {
            @Override
            public boolean isHeld() {
              return true;
            }
          };
    }
  }

  /** Has one lock for its listeners and for its leases. */
  private static final class CallingUnderALock extends PassingManager {
    private final ReentrantLock lock = new ReentrantLock();

    CallingUnderALock(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onReleased(String name, long leaseId, long held, boolean confirmed) {
              lock.lock();
              try {
                super.onReleased(name, leaseId, held, confirmed);
              } finally {
                lock.unlock();
              }
            }
          });
    }

    @Override
    public List<HeldLock> leases() {
      lock.lock();
      try {
        return right.leases();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Passes the failure of an adoption to no listener. */
  private static final class SilentOnAdoptions extends PassingManager {
    private final Set<String> adopted = ConcurrentHashMap.newKeySet();

    SilentOnAdoptions(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onNotGranted(String name, Failure failure, long waited) {
              if (!adopted.contains(name)) {
                super.onNotGranted(name, failure, waited);
              }
            }
          });
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      adopted.add(request.name());
      return super.adopt(text, request);
    }
  }

  /** Reports the load to a listener from the first change on after it was added. */
  private static final class SilentOnEarlierRequests extends PassingManager {
    SilentOnEarlierRequests(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      Set<Thread> adding = ConcurrentHashMap.newKeySet();
      adding.add(Thread.currentThread());
      try {
        return right.addListener(
            new PassingListener(listener) {
              @Override
              public void onLoad(int waiting, int inFlight) {
                if (!adding.contains(Thread.currentThread())) {
                  super.onLoad(waiting, inFlight);
                }
              }
            });
      } finally {
        adding.clear();
      }
    }
  }

  /** Reports the end of a lease to listeners that were added during its life. */
  private static final class ReportingToLaterOnes extends PassingManager {
    private final List<LockListener> added = new CopyOnWriteArrayList<>();

    ReportingToLaterOnes(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      added.add(listener);
      Map<Long, Integer> present = new ConcurrentHashMap<>();
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
              super.onGranted(name, leaseId, waited, votes, margin);
              present.put(leaseId, added.size());
            }

            @Override
            public void onReleased(String name, long leaseId, long held, boolean confirmed) {
              super.onReleased(name, leaseId, held, confirmed);
              int before = present.getOrDefault(leaseId, added.size());
              added
                  .subList(before, added.size())
                  .forEach(later -> later.onReleased(name, leaseId, held, confirmed));
            }
          });
    }
  }

  /** Throws at the next request what a listener has thrown. */
  private static final class Rethrowing extends PassingManager {
    private final AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();

    Rethrowing(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
              try {
                super.onGranted(name, leaseId, waited, votes, margin);
              } catch (RuntimeException e) {
                thrown.set(e);
                throw e;
              }
            }
          });
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      Throwable failure = thrown.getAndSet(null);
      if (failure != null) {
        throw new IllegalArgumentException(failure);
      }
      return super.tryAcquire(request);
    }
  }

  /** Lets calls block on another thread. */
  private static final class Lending extends PassingManager {
    Lending(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        return super.tryAcquire(request);
      } catch (IllegalStateException inside) {
        if (!String.valueOf(inside.getMessage()).contains("LockListener")) {
          throw inside;
        }
        return CompletableFuture.supplyAsync(() -> right.tryAcquireAsync(request))
            .thenCompose(lease -> lease)
            .join();
      }
    }
  }

  /** Shows its nodes as unknown until the first request. */
  private static final class UnknownBeforeLocks extends PassingManager {
    private volatile boolean isUsed;

    UnknownBeforeLocks(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest request) {
      isUsed = true;
      return super.request(request);
    }

    @Override
    public List<LockNode> nodes() {
      return isUsed ? right.nodes() : right.nodes().stream().map(ListenerFlaws::asUnknown).toList();
    }
  }

  /** Shows all leases that it has ever seen. */
  private static final class RememberedLeases extends PassingManager {
    private final List<HeldLock> seen = new CopyOnWriteArrayList<>();

    RememberedLeases(LockManager right) {
      super(right);
    }

    @Override
    public List<HeldLock> leases() {
      List<HeldLock> now = right.leases();
      List<HeldLock> before = new ArrayList<>(seen);
      before.removeIf(old -> now.stream().anyMatch(held -> held.name().equals(old.name())));
      seen.addAll(now);
      before.addAll(now);
      return before;
    }
  }
}
