package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Mistakes after an earlier call, on interrupted threads, beside calls that wait, in big numbers.
 */
final class EdgeFlaws {
  private EdgeFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "a name that was refused once is taken for held when nodes are silent",
            Set.of("ERR-1"),
            RemembersRefusals::new),
        Flaw.inLease(
            "of several new minimums only the first one counts",
            Set.of("ACQ-22"),
            FirstMinimum::new),
        Flaw.inManager(
            "inspect shows the remaining time in whole seconds",
            Set.of("INSP-1"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Optional<LockStatus> inspect(String name) {
                    return super.inspect(name).map(EdgeFlaws::inSeconds);
                  }
                }),
        Flaw.of(
            "only a cancelled adoption releases the lock, not one that other code has completed",
            Set.of("TRANSFER-11"),
            Parts.TRANSFERRING.withManagers(right -> new LooksForCancelled(right.get()))),
        Flaw.inLease(
            "an extension on an interrupted thread is not sent",
            Set.of("RES-4"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void extend(Duration ttl) {
                    if (!isInterrupted()) {
                      super.extend(ttl);
                    }
                  }
                }),
        Flaw.inManager(
            "nothing is seen on an interrupted thread",
            Set.of("RES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Optional<LockStatus> inspect(String name) {
                    return isInterrupted() ? Optional.empty() : super.inspect(name);
                  }
                }),
        Flaw.inManager(
            "a ping is false on an interrupted thread",
            Set.of("RES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean ping(Duration timeout) {
                    return !isInterrupted() && super.ping(timeout);
                  }
                }),
        Flaw.inManager(
            "a forced release takes the interrupt away",
            Set.of("RES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean forceRelease(String name) {
                    boolean unused = Thread.interrupted();
                    return super.forceRelease(name);
                  }
                }),
        Flaw.of(
            "an adoption fails on an interrupted thread",
            Set.of("RES-4"),
            Parts.TRANSFERRING.withManagers(
                right ->
                    new PassingManager(right.get()) {
                      @Override
                      public Lease adopt(String text, LockRequest request) {
                        if (isInterrupted()) {
                          throw new IllegalStateException("interrupted");
                        }
                        return super.adopt(text, request);
                      }
                    })),
        Flaw.of(
            "the token is logged for tracing when a lease is extended",
            Set.of("TRANSFER-10"),
            Parts.TRANSFERRING.withManagers(
                right -> PassingManager.withLeases(right.get(), TracesTokens::new))),
        Flaw.inManager(
            "tryAcquireAsync waits for the monitor that inspect holds",
            Set.of("RES-3"),
            OneMonitor::new),
        Flaw.inManager(
            "keepAliveUpTo ends after 2^31 milliseconds",
            Set.of("VAL-7"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    return asked
                        .keepAliveUpTo()
                        .map(hold -> asked.keepAliveUpTo(inAnInt(hold)))
                        .orElse(asked);
                  }
                }));
  }

  private static boolean isInterrupted() {
    return Thread.currentThread().isInterrupted();
  }

  private static LockStatus inSeconds(LockStatus seen) {
    Duration left = Duration.ofSeconds(seen.remaining().toSeconds());
    return new LockStatus(seen.name(), seen.ownerLabel(), left, seen.votes());
  }

  private static Duration inAnInt(Duration hold) {
    Duration most = Duration.ofMillis(Integer.MAX_VALUE);
    return hold.compareTo(most) > 0 ? most : hold;
  }

  private static final class RemembersRefusals extends PassingManager {
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    RemembersRefusals(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        Optional<Lease> lease = super.tryAcquire(request);
        if (lease.isEmpty()) {
          refused.add(request.name());
        }
        return lease;
      } catch (LockOutageException outage) {
        if (refused.contains(request.name())) {
          return Optional.empty();
        }
        throw outage;
      }
    }
  }

  private static final class FirstMinimum extends PassingLease {
    private final AtomicBoolean isSet = new AtomicBoolean();

    FirstMinimum(Lease right) {
      super(right);
    }

    @Override
    public void holdAtLeast(Duration minimum) {
      if (isSet.compareAndSet(false, true)) {
        super.holdAtLeast(minimum);
      }
    }
  }

  private static final class TracesTokens extends PassingLease {
    TracesTokens(Lease right) {
      super(right);
    }

    @Override
    public void extend(Duration ttl) {
      System.getLogger("dev.holdfast.Lease").log(Level.TRACE, "extending {0}", token());
      super.extend(ttl);
    }
  }

  private static final class LooksForCancelled extends PassingManager {
    LooksForCancelled(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
      CompletableFuture<Lease> mine = new CompletableFuture<>();
      super.adoptAsync(text, request)
          .whenComplete(
              (lease, failure) -> {
                if (failure != null) {
                  mine.completeExceptionally(failure);
                } else if (!mine.complete(lease) && mine.isCancelled()) {
                  lease.releaseAsync();
                }
              });
      return mine;
    }
  }

  private static final class OneMonitor extends PassingManager {
    OneMonitor(LockManager right) {
      super(right);
    }

    @Override
    public synchronized Optional<LockStatus> inspect(String name) {
      return super.inspect(name);
    }

    @Override
    public synchronized CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return super.tryAcquireAsync(request);
    }
  }
}
