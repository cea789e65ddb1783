package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Mistakes of backends that passed the kit before a test of each was added. */
final class PassedFlaws {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static final Duration SHORT_WAIT = Duration.ofMillis(20);
  private static final Duration YEAR = Duration.ofDays(365);

  private PassedFlaws() {}

  static List<Flaw> all() {
    return List.of(
        takesForARefusal("BUSY"),
        takesForARefusal("MISCONF").asVariation(),
        takesForARefusal("NOREPLICAS").asVariation(),
        Flaw.inRedlock(
            "an attempt that was refused asks once more",
            Set.of("ACQ-6"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  public CompletableFuture<Outcome> attempt(Attempt attempt) {
                    return super.attempt(attempt)
                        .thenCompose(
                            outcome ->
                                outcome instanceof Refusal
                                    ? super.attempt(attempt)
                                    : CompletableFuture.completedFuture(outcome));
                  }
                }),
        Flaw.of(
            "a text does not say how many nodes hold its lock",
            Set.of("TRANSFER-9"),
            Parts.RIGHT.withPrimitives(
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      public String transferScope() {
                        return "fake nodes";
                      }
                    })),
        Flaw.inManager("a ttl is a float", Set.of("VAL-7"), AsFloats::new),
        Flaw.inManager(
            "holdAtLeast above a minute is cut to seconds", Set.of("VAL-7"), CutMinimums::new),
        Flaw.inManager(
            "the timeout of a ping is an int of milliseconds",
            Set.of("NODES-4"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean ping(Duration timeout) {
                    int millis =
                        (int) (timeout.getSeconds() * 1_000 + timeout.getNano() / 1_000_000);
                    return super.ping(Duration.ofMillis(millis));
                  }
                }),
        Flaw.inManager("a wait is cut to milliseconds", Set.of("WAIT-16"), CutWaits::new),
        Flaw.inManager(
            "nodes() is remembered for 150 ms", Set.of("NODES-2", "NODES-4"), OldNodes::new),
        Flaw.inManager(
            "acquire by name and ttl waits for the ttl at most",
            Set.of("WAIT-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(String name, Duration ttl) throws InterruptedException {
                    return acquire(LockRequest.of(name, ttl).waitAtMost(ttl));
                  }
                }),
        Flaw.inManager(
                "acquire by name and ttl gives up when nodes refuse",
                Set.of("WAIT-2"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(String name, Duration ttl) throws InterruptedException {
                        LockRequest request = LockRequest.of(name, ttl).waitAtMost(SHORT_WAIT);
                        Optional<Lease> lease = tryAcquire(request);
                        while (lease.isEmpty()) {
                          lease = tryAcquire(request);
                        }
                        return lease.get();
                      }
                    })
            .asVariation(),
        Flaw.inLease(
            "release throws the exception of another thread",
            Set.of("ERR-7"),
            right ->
                new PassingLease(right) {
                  @Override
                  public boolean release() {
                    return joined(right.releaseAsync());
                  }
                }),
        Flaw.inManager(
            "a future that other code has completed goes on", Set.of("WAIT-9"), CancelledOnly::new),
        Flaw.inLease(
            "extendAsync is answered by the one in flight, if that asked for as much",
            Set.of("EXT-10"),
            Coalescing::new));
  }

  private static Flaw takesForARefusal(String code) {
    return Flaw.inMember(
        "the error " + code + " of a node is taken for a refusal",
        Set.of("ERR-6"),
        (uri, way, network) -> new TakingForRefusals(code, uri, way, network));
  }

  private static <T> T joined(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LockException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private static final class TakingForRefusals extends Member {
    private final String code;

    TakingForRefusals(String code, String uri, Way way, Scheduler network) {
      super(uri, way, network);
      this.code = code;
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      super.ask(request, wanted, reply -> answer.accept(isOfCode(reply) ? Answer.OTHER : reply));
    }

    private boolean isOfCode(Object reply) {
      return reply instanceof NodeError error
          && error.kind() == Kind.PASSING
          && String.valueOf(error.getMessage()).startsWith(code + " ");
    }
  }

  private static final class AsFloats extends PassingManager {
    AsFloats(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      Duration ttl = asked.ttl();
      return ttl.compareTo(YEAR) < 0 && ttl.toNanosPart() % 1_000_000 == 0
          ? Asked.withTtl(asked, Duration.ofMillis((long) (float) ttl.toMillis()))
          : asked;
    }
  }

  private static final class CutMinimums extends PassingManager {
    CutMinimums(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      Duration minimum = asked.holdAtLeast();
      return minimum.compareTo(MINUTE) > 0
          ? asked.holdAtLeast(minimum.truncatedTo(ChronoUnit.SECONDS))
          : asked;
    }
  }

  private static final class CutWaits extends PassingManager {
    CutWaits(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      return asked
          .waitAtMost()
          .filter(wait -> wait.compareTo(MINUTE) < 0)
          .map(wait -> asked.waitAtMost(wait.truncatedTo(ChronoUnit.MILLIS)))
          .orElse(asked);
    }
  }

  private static final class OldNodes extends PassingManager {
    private static final Duration AGE = Duration.ofMillis(150);

    private List<LockNode> seen = List.of();
    private long seenAt;

    OldNodes(LockManager right) {
      super(right);
    }

    @Override
    public synchronized List<LockNode> nodes() {
      if (seen.isEmpty() || System.nanoTime() - seenAt > AGE.toNanos()) {
        seen = super.nodes();
        seenAt = System.nanoTime();
      }
      return seen;
    }
  }

  private static final class CancelledOnly extends PassingManager {
    CancelledOnly(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return cancelledOnly(super.tryAcquireAsync(request));
    }
  }

  /** Returns a future whose cancellation alone is passed on. */
  static <T> CompletableFuture<T> cancelledOnly(CompletableFuture<T> future) {
    CompletableFuture<T> given =
        new CompletableFuture<>() {
          @Override
          public boolean cancel(boolean mayInterruptIfRunning) {
            return future.cancel(mayInterruptIfRunning);
          }
        };
    future.whenComplete(
        (value, failure) -> {
          if (failure == null) {
            given.complete(value);
          } else {
            given.completeExceptionally(failure);
          }
        });
    return given;
  }

  private static final class Coalescing extends PassingLease {
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
    private Duration lastTtl = Duration.ZERO;

    Coalescing(Lease right) {
      super(right);
    }

    @Override
    public synchronized CompletableFuture<Void> extendAsync(Duration ttl) {
      if (last.isDone() || ttl.compareTo(lastTtl) > 0) {
        last = super.extendAsync(ttl);
        lastTtl = ttl;
      }
      return last.copy();
    }
  }
}
