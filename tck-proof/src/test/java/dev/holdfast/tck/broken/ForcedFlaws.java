package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Mistakes that show beside an operator, a closing thread, a listener or a busy program. */
final class ForcedFlaws {
  private ForcedFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "a request without a wait asks no node while a lease of its manager looks held",
            Set.of("ACQ-2"),
            Trusting::new),
        Flaw.inNode(
            "the end of a lock that was released by force comes to the next one of its name",
            Set.of("ACQ-10"),
            KeepingEnds::new),
        Flaw.of(
            "a manager that is closing transfers no lease",
            Set.of("CLOSE-2"),
            Parts.TRANSFERRING.withManagers(right -> new Closing(right.get()))),
        Flaw.inManager(
                "a lease is referred to by what is reported of it to listeners",
                Set.of("KEEP-4"),
                Reporting::new)
            .asVariation(),
        Flaw.inMember(
            "replies are read by the common pool of the JDK",
            Set.of("FAULT-8"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  @Override
                  void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
                    super.ask(
                        request,
                        wanted,
                        reply -> ForkJoinPool.commonPool().execute(() -> answer.accept(reply)));
                  }
                }));
  }

  private static final class Reporting extends PassingManager {
    private final Queue<Lease> reported = new ConcurrentLinkedQueue<>();
    private volatile boolean reports;

    Reporting(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      reports = true;
      return super.addListener(listener);
    }

    @Override
    Lease lease(Lease granted) {
      if (reports) {
        reported.add(granted);
      }
      return granted;
    }
  }

  private static final class Trusting extends PassingManager {
    Trusting(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      boolean isHeld = leases().stream().map(HeldLock::name).anyMatch(request.name()::equals);
      return isHeld && request.waitAtMost().isEmpty()
          ? Optional.empty()
          : super.tryAcquire(request);
    }
  }

  /** Ends a key at the end of the key before it, unless a token was compared meanwhile. */
  private static final class KeepingEnds extends FakeKeys {
    private final Map<String, Long> ends = new HashMap<>();

    @Override
    void put(String name, String token, Duration ttl) {
      ends.putIfAbsent(name, System.nanoTime() + ttl.toNanos());
      super.put(name, token, ttl);
    }

    @Override
    void expire(String name, Duration ttl) {
      ends.put(name, System.nanoTime() + ttl.toNanos());
      super.expire(name, ttl);
    }

    @Override
    boolean holds(String name, String token) {
      boolean holds = super.holds(name, token);
      if (holds) {
        ends.remove(name); // a release compares first
      }
      return holds;
    }

    @Override
    boolean contains(String name) {
      Long end = ends.get(name);
      if (end != null && System.nanoTime() - end > 0) {
        ends.remove(name);
        super.remove(name);
      }
      return super.contains(name);
    }
  }

  private static final class Closing extends PassingManager {
    private volatile boolean closing;

    private Closing(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public String transfer(Duration within) {
          if (closing) {
            throw new IllegalStateException("the manager is closing");
          }
          return super.transfer(within);
        }
      };
    }

    @Override
    public void close(Duration grace) {
      closing = true;
      super.close(grace);
    }
  }
}
