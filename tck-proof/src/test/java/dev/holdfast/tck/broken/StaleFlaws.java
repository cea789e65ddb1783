package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Flaws that report stale facts. */
final class StaleFlaws {
  private static final Duration STALE_TIME = Duration.ofMillis(400);

  private StaleFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "fault tolerance is not declared during an outage",
                Set.of("CAP-1"),
                Pessimistic::new)
            .asVariation(),
        Flaw.inManager(
            "inspect shows what it saw in the last 400 ms",
            Set.of("RES-2", "INSP-1"),
            RemembersHolders::new),
        Flaw.inManager(
                "inspect shows the manager's own leases without asking",
                Set.of("RES-2"),
                KnowsItsOwn::new)
            .asVariation(),
        Flaw.inManager(
                "a name that was refused ten times in a row is held for taken for a while",
                Set.of("RES-2"),
                right -> new GivesUp(right, 10))
            .asVariation(),
        Flaw.inManager(
                "a request whose wait ended in an outage is made once more, with all of its wait",
                Set.of("WAIT-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        try {
                          return super.acquire(request);
                        } catch (LockOutageException e) {
                          return super.acquire(request);
                        }
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "after three outages in a row attempts fail for five seconds without a request",
            Set.of("FAULT-8"),
            BreaksItsCircuit::new),
        Flaw.inManager(
                "the holder that is named is the first who was seen",
                Set.of("RES-2"),
                NamesTheFirst::new)
            .asVariation(),
        Flaw.inLease(
                "isHeld() looks at the clock ten times a second",
                Set.of("RES-2", "VAL-4", "LOSS-3", "ACQ-13"),
                right ->
                    new PassingLease(right) {
                      private long looked = System.nanoTime();
                      private boolean held = true;

                      @Override
                      public synchronized boolean isHeld() {
                        if (isOver(looked, Duration.ofMillis(100))) {
                          held = super.isHeld();
                          looked = System.nanoTime();
                        }
                        return held;
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a manager that was closed declares nothing",
                Set.of("CAP-1"),
                right ->
                    new PassingManager(right) {
                      private volatile boolean closed;

                      @Override
                      public Set<LockCapability> capabilities() {
                        return closed ? Set.of() : super.capabilities();
                      }

                      @Override
                      public void close() {
                        closed = true;
                        super.close();
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "what is declared in an outage is less",
                Set.of("CAP-1"),
                right ->
                    new PassingManager(right) {
                      private volatile boolean isOut;

                      @Override
                      public Set<LockCapability> capabilities() {
                        Set<LockCapability> all = EnumSet.copyOf(super.capabilities());
                        if (isOut) {
                          all.remove(LockCapability.FAULT_TOLERANT);
                        }
                        return Set.copyOf(all);
                      }

                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        try {
                          return super.tryAcquire(request);
                        } catch (LockOutageException e) {
                          isOut = true;
                          throw e;
                        }
                      }
                    })
            .asVariation());
  }

  private static boolean isOver(long since, Duration time) {
    return System.nanoTime() - since > time.toNanos();
  }

  private static boolean isHeld(@Nullable WeakReference<Lease> lease) {
    Lease mine = lease == null ? null : lease.get();
    return mine != null && mine.isHeld();
  }

  private static final class RemembersHolders extends PassingManager {
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();

    private record Seen(Optional<LockStatus> status, long at) {}

    RemembersHolders(LockManager right) {
      super(right);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      return seen.compute(
              name,
              (n, last) ->
                  last == null || isOver(last.at(), STALE_TIME)
                      ? new Seen(super.inspect(name), System.nanoTime())
                      : last)
          .status();
    }
  }

  /** Remembers what it saw of its own leases for as long as it holds them. */
  private static final class KnowsItsOwn extends PassingManager {
    private final Map<String, WeakReference<Lease>> own = new ConcurrentHashMap<>();
    private final Map<String, LockStatus> seen = new ConcurrentHashMap<>();

    KnowsItsOwn(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      own.put(granted.name(), new WeakReference<>(granted));
      seen.remove(granted.name());
      return granted;
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      LockStatus known = seen.get(name);
      if (isHeld(own.get(name)) && known != null) {
        return Optional.of(known);
      }
      Optional<LockStatus> now = super.inspect(name);
      now.ifPresent(status -> seen.put(name, status));
      return now;
    }
  }

  /** Asks no more, for a while, for what is always refused. */
  private static final class GivesUp extends PassingManager {
    private final int patience;
    private final Map<String, Integer> refused = new ConcurrentHashMap<>();
    private final Map<String, Long> since = new ConcurrentHashMap<>();

    GivesUp(LockManager right, int patience) {
      super(right);
      this.patience = patience;
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      String name = request.name();
      Long last = since.get(name);
      if (last != null && !isOver(last, STALE_TIME.dividedBy(3))) {
        return Optional.empty();
      }
      Optional<Lease> lease = super.tryAcquire(request);
      if (lease.isPresent()) {
        refused.remove(name);
      } else if (refused.merge(name, 1, Integer::sum) >= patience) {
        since.put(name, System.nanoTime());
      }
      return lease;
    }
  }

  private static final class BreaksItsCircuit extends PassingManager {
    private static final int MAX_OUTAGES = 3;
    private static final Duration OPEN_TIME = Duration.ofSeconds(5);

    private int outages;
    private long openedAt;
    private @Nullable LockOutageException last;

    BreaksItsCircuit(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      if (request.waitAtMost().isPresent()) {
        return super.tryAcquire(request);
      }
      requireClosed();
      try {
        Optional<Lease> lease = super.tryAcquire(request);
        onAnswer();
        return lease;
      } catch (LockOutageException e) {
        onOutage(e);
        throw e;
      }
    }

    private synchronized void requireClosed() {
      if (last != null && outages >= MAX_OUTAGES && !isOver(openedAt, OPEN_TIME)) {
        throw last;
      }
    }

    private synchronized void onAnswer() {
      outages = 0;
    }

    private synchronized void onOutage(LockOutageException outage) {
      outages++;
      openedAt = System.nanoTime();
      last = outage;
    }
  }

  private static final class NamesTheFirst extends PassingManager {
    private final Map<String, String> holders = new ConcurrentHashMap<>();

    NamesTheFirst(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      try {
        return super.acquire(request);
      } catch (LockContendedException e) {
        String holder =
            e.holder().map(h -> holders.computeIfAbsent(request.name(), n -> h)).orElse(null);
        throw new LockContendedException(
            request.name(), e.votes(), e.waited(), holder, e.isHeldByThisManager());
      }
    }
  }

  /** Declares no fault tolerance after an outage. */
  private static final class Pessimistic extends PassingManager {
    private volatile boolean isOutage;

    Pessimistic(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        Optional<Lease> lease = super.tryAcquire(request);
        isOutage = false;
        return lease;
      } catch (LockOutageException e) {
        isOutage = true;
        throw e;
      }
    }

    @Override
    public Set<LockCapability> capabilities() {
      Set<LockCapability> declared = EnumSet.copyOf(super.capabilities());
      if (isOutage) {
        declared.remove(LockCapability.FAULT_TOLERANT);
      }
      return declared;
    }
  }
}
