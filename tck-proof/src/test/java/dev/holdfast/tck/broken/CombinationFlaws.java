package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockedTask;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Mistakes that show only where two things meet, such as a task that throws and a hold, or a forced
 * release and a lease of the same manager.
 */
final class CombinationFlaws {
  private CombinationFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "a task that throws ends the hold of its lease",
            Set.of("ACQ-11"),
            EndsHoldsOfFailures::new),
        Flaw.inManager(
            "a lease that is renewed gets 20 s at most",
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  LockRequest request(LockRequest asked) {
                    Duration most = Duration.ofSeconds(20);
                    return asked.keepAliveUpTo().isPresent() && asked.ttl().compareTo(most) > 0
                        ? Asked.withTtl(asked, most)
                        : asked;
                  }
                }),
        Flaw.inManager(
            "a forced release of a lock of one's own releases its lease",
            Set.of("INSP-2"),
            ReleasesWhatItForces::new),
        Flaw.inManager(
            "the first request after a forced release gets half of its ttl",
            Set.of("ACQ-24"),
            HalvesAfterForce::new),
        Flaw.inListener(
            "a listener that has thrown five times is called no more",
            Set.of("LISTEN-4"),
            FiveTimesAtMost::new),
        Flaw.inManager(
            "a ping shares the answer to the one in flight", Set.of("NODES-4"), SharesPings::new),
        Flaw.inLease(
            "releaseAsync waits for an extension in flight", Set.of("RES-3"), OneCallAtATime::new),
        Flaw.inManager(
            "the lock is removed at the end of the ttl that a hold replaced",
            Set.of("ACQ-1"),
            RemovesAtTheFirstEnd::new),
        Flaw.inManager(
            "a forced release of a key of another type says that there was no lock",
            Set.of("INSP-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean forceRelease(String name) {
                    try {
                      return super.forceRelease(name);
                    } catch (LockConfigurationException e) {
                      return false;
                    }
                  }
                }),
        Flaw.inManager(
            "an inspection in an outage shows what the one before it saw",
            Set.of("ERR-1"),
            ShowsWhatItSaw::new),
        Flaw.inManager(
            "a manager takes names with the same hash code for one",
            Set.of("ACQ-7"),
            HashesNames::new),
        Flaw.inNode(
            "a long name is kept as its beginning, its length and its hash code",
            Set.of("ACQ-7"),
            () ->
                new FakeKeys() {
                  @Override
                  String key(String name) {
                    return name.length() <= 64
                        ? name
                        : name.substring(0, 32) + "-" + name.length() + "-" + name.hashCode();
                  }
                }),
        Flaw.inManager(
            "the lease that was extended last is remembered",
            Set.of("KEEP-4"),
            RemembersExtended::new),
        Flaw.of(
            "adopt throws the exception of adoptAsync",
            Set.of("ERR-7"),
            Parts.TRANSFERRING.withManagers(right -> new AdoptsByFuture(right.get()))),
        Flaw.inManager(
            "an interrupt is held back for 400 ms", Set.of("WAIT-7"), HoldsInterruptsBack::new),
        Flaw.inMember(
            "a SET that a node could not serve is sent again after 100 ms",
            Set.of("FAULT-4"),
            SendsAgain::new));
  }

  private static final class HalvesAfterForce extends PassingManager {
    private final AtomicBoolean forced = new AtomicBoolean();

    HalvesAfterForce(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      return forced.getAndSet(false) ? Asked.withTtl(asked, asked.ttl().dividedBy(2)) : asked;
    }

    @Override
    public boolean forceRelease(String name) {
      forced.set(true);
      return super.forceRelease(name);
    }
  }

  private static final class FiveTimesAtMost extends PassingListener {
    private final AtomicInteger failures = new AtomicInteger();

    FiveTimesAtMost(LockListener listener) {
      super(listener);
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      if (failures.get() == 5) {
        return;
      }
      try {
        super.onGranted(name, leaseId, waited, votes, margin);
      } catch (RuntimeException e) {
        failures.incrementAndGet();
        throw e;
      }
    }
  }

  private static final class SharesPings extends PassingManager {
    private final AtomicReference<Optional<FutureTask<Boolean>>> inFlight =
        new AtomicReference<>(Optional.empty());

    SharesPings(LockManager right) {
      super(right);
    }

    @Override
    public boolean ping(Duration timeout) {
      FutureTask<Boolean> mine = new FutureTask<>(() -> super.ping(timeout));
      Optional<FutureTask<Boolean>> shared =
          inFlight.updateAndGet(now -> now.isPresent() ? now : Optional.of(mine));
      if (shared.equals(Optional.of(mine))) {
        mine.run();
        inFlight.set(Optional.empty());
      }
      try {
        return shared.orElseThrow().get();
      } catch (ExecutionException e) {
        throw (RuntimeException) e.getCause();
      } catch (InterruptedException e) {
        throw new CompletionException(e);
      }
    }
  }

  private static final class OneCallAtATime extends PassingLease {
    OneCallAtATime(Lease right) {
      super(right);
    }

    @Override
    public synchronized void extend(Duration ttl) {
      super.extend(ttl);
    }

    @Override
    public synchronized CompletableFuture<Boolean> releaseAsync() {
      return super.releaseAsync();
    }
  }

  private static final class RemovesAtTheFirstEnd extends PassingManager {
    RemovesAtTheFirstEnd(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      if (!asked.holdAtLeast().isZero()) {
        long millis = asked.ttl().toMillis();
        CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS)
            .execute(() -> super.forceRelease(asked.name()));
      }
      return asked;
    }
  }

  private static final class EndsHoldsOfFailures extends PassingManager {
    EndsHoldsOfFailures(LockManager right) {
      super(right);
    }

    @Override
    public <T, E extends Exception> T executeLocked(LockRequest request, LockedTask<T, E> task)
        throws E, InterruptedException {
      return super.executeLocked(request, lease -> run(lease, task));
    }

    private static <T, E extends Exception> T run(Lease lease, LockedTask<T, E> task)
        throws E, InterruptedException {
      boolean done = false;
      try {
        T result = task.call(lease);
        done = true;
        return result;
      } finally {
        if (!done && lease.isHeld()) {
          lease.holdAtLeast(Duration.ZERO);
        }
      }
    }
  }

  private static final class ReleasesWhatItForces extends PassingManager {
    private final Map<String, Lease> leases = new ConcurrentHashMap<>();

    ReleasesWhatItForces(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      leases.put(granted.name(), granted);
      return granted;
    }

    @Override
    public boolean forceRelease(String name) {
      Lease own = leases.remove(name);
      boolean isOwn = own != null && own.isHeld();
      return isOwn ? own.release() : super.forceRelease(name);
    }
  }

  private static final class ShowsWhatItSaw extends PassingManager {
    private final Map<String, Optional<LockStatus>> seen = new ConcurrentHashMap<>();

    ShowsWhatItSaw(LockManager right) {
      super(right);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      try {
        Optional<LockStatus> now = super.inspect(name);
        seen.put(name, now);
        return now;
      } catch (LockOutageException e) {
        Optional<LockStatus> before = seen.get(name);
        if (before == null) {
          throw e;
        }
        return before;
      }
    }
  }

  private static final class HashesNames extends PassingManager {
    private final Map<Integer, String> names = new ConcurrentHashMap<>();

    HashesNames(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      String name = names.computeIfAbsent(asked.name().hashCode(), hash -> asked.name());
      return name.equals(asked.name()) ? asked : LockRequest.of(name, asked.ttl());
    }
  }

  private static final class RemembersExtended extends PassingManager {
    private final AtomicReference<Lease> last = new AtomicReference<>();

    RemembersExtended(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public void extend(Duration ttl) {
          last.set(this);
          super.extend(ttl);
        }
      };
    }
  }

  private static final class AdoptsByFuture extends PassingManager {
    AdoptsByFuture(LockManager right) {
      super(right);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      try {
        return adoptAsync(text, request).join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof LockException ours ? ours : e;
      }
    }
  }

  /** Acquires on another thread, and looks for an interrupt when it has waited a while. */
  private static final class HoldsInterruptsBack extends PassingManager {
    private static final long WHILE_NANOS = Duration.ofMillis(400).toNanos();

    HoldsInterruptsBack(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      FutureTask<Lease> call = new FutureTask<>(() -> super.acquire(request));
      Thread helper = new Thread(call, "helps");
      helper.start();
      long end = System.nanoTime() + WHILE_NANOS;
      boolean isInterrupted = false;
      while (!call.isDone() && System.nanoTime() - end < 0) {
        try {
          call.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          isInterrupted = true;
        } catch (ExecutionException | TimeoutException e) {
          break; // the result says so below
        }
      }
      if (isInterrupted) {
        helper.interrupt();
      }
      return result(call, helper);
    }

    private static Lease result(FutureTask<Lease> call, Thread helper) throws InterruptedException {
      while (true) {
        try {
          return call.get();
        } catch (InterruptedException e) {
          helper.interrupt();
        } catch (ExecutionException e) {
          Throwable cause = Objects.requireNonNull(e.getCause());
          if (cause instanceof InterruptedException interrupt) {
            throw interrupt;
          }
          throw cause instanceof RuntimeException ours ? ours : new IllegalStateException(cause);
        }
      }
    }
  }

  /** Sends a SET again by itself, whatever has been sent since. */
  private static final class SendsAgain extends Member {
    private static final long LATER_NANOS = Duration.ofMillis(100).toNanos();

    private final Scheduler network;

    SendsAgain(String uri, Way way, Scheduler network) {
      super(uri, way, network);
      this.network = network;
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      super.ask(
          request,
          wanted,
          reply -> {
            answer.accept(reply);
            if (request.verb() == Request.Verb.SET
                && reply instanceof NodeError error
                && error.kind() == NodeError.Kind.PASSING) {
              network.schedule(LATER_NANOS, () -> super.ask(request, wanted, again -> {}));
            }
          });
    }
  }
}
