package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Limits and short cuts of wrappers that their users did not ask for. */
final class LimitFlaws {
  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final int PLACES = 50;

  private LimitFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "acquire without a wait gives up after ten seconds",
            Set.of("WAIT-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(LockRequest request) throws InterruptedException {
                    return super.acquire(
                        request.waitAtMost().isPresent()
                            ? request
                            : request.waitAtMost(TEN_SECONDS));
                  }
                }),
        Flaw.inManager(
            "waiters take the places of all other calls",
            Set.of("ACQ-6"),
            right -> new Places(right, PLACES)),
        Flaw.inManager(
            "the timeout of ping is a second at least",
            Set.of("NODES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean ping(Duration timeout) {
                    boolean isUsable = !timeout.isZero() && !timeout.isNegative();
                    return right.ping(
                        isUsable ? Duration.ofSeconds(Math.max(1, timeout.toSeconds())) : timeout);
                  }
                }),
        Flaw.inManager(
            "ping is true while one node is up",
            Set.of("NODES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean ping(Duration timeout) {
                    return right.ping(timeout)
                        || right.nodes().stream()
                            .anyMatch(node -> node.state() == LockNode.State.UP);
                  }
                }),
        Flaw.inLease(
            "the methods of a lease that wait and those that look share a monitor",
            Set.of("VAL-4"),
            Monitor::new),
        Flaw.inLease(
            "the end of a lease takes the interrupt of its thread",
            Set.of("RES-4"),
            lease ->
                new PassingLease(lease) {
                  @Override
                  public void close() {
                    boolean unused = Thread.interrupted();
                    super.close();
                  }
                }),
        Flaw.of(
            "a decorator leaves transferAsync to a default that refuses",
            Set.of("TRANSFER-1"),
            Parts.TRANSFERRING.withManagers(
                right -> PassingManager.withLeases(right.get(), Undecorated::new))),
        Flaw.of(
            "the first manager to close ends the timers of all",
            Set.of("CLOSE-4"),
            () -> {
              AtomicInteger ended = new AtomicInteger();
              return new FakeEnvironment(
                  Parts.RIGHT.withManagers(right -> new SharedTimers(right.get(), ended)));
            }));
  }

  /** Refuses what it does not know. */
  private static final class Undecorated extends PassingLease {
    Undecorated(Lease right) {
      super(right);
    }

    @Override
    public CompletableFuture<String> transferAsync(Duration within) {
      return CompletableFuture.failedFuture(
          new LockConfigurationException("this lease cannot be transferred"));
    }
  }

  /** Reports no loss after another manager that was open at the same time has closed. */
  private static final class SharedTimers extends PassingManager {
    private final AtomicInteger ended;
    private final int mine;

    SharedTimers(LockManager right, AtomicInteger ended) {
      super(right);
      this.ended = ended;
      this.mine = ended.get();
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public CompletableFuture<LossReason> onLoss() {
          return ended.get() == mine ? super.onLoss() : new CompletableFuture<>();
        }
      };
    }

    @Override
    public void close() {
      ended.incrementAndGet();
      super.close();
    }
  }

  /** Lets some calls in at a time, however long they wait. */
  static final class Places extends PassingManager {
    private final Semaphore places;

    Places(LockManager right, int places) {
      super(right);
      this.places = new Semaphore(places);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      places.acquire();
      try {
        return super.tryAcquire(request);
      } finally {
        places.release();
      }
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      places.acquire();
      try {
        return super.acquire(request);
      } finally {
        places.release();
      }
    }
  }

  /** Blocks each caller that looks for as long as another thread waits. */
  private static final class Monitor extends PassingLease {
    Monitor(Lease right) {
      super(right);
    }

    @Override
    public synchronized Duration remaining() {
      return super.remaining();
    }

    @Override
    public synchronized boolean isHeld() {
      return super.isHeld();
    }

    @Override
    public synchronized void requireHeld() {
      super.requireHeld();
    }

    @Override
    public synchronized void extend(Duration ttl) {
      super.extend(ttl);
    }
  }
}
