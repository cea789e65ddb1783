package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.Scheduler;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** Mistakes that show only in use: by others at the same time, after seconds, or in odd values. */
final class UnseenFlaws {
  private static final Executor SOON =
      CompletableFuture.delayedExecutor(2, TimeUnit.MILLISECONDS, NewThreads.EXECUTOR);

  private UnseenFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
            "acquire takes the stack trace off the exception for contention",
            Set.of("ERR-7"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(LockRequest request) throws InterruptedException {
                    try {
                      return super.acquire(request);
                    } catch (LockContendedException e) {
                      e.setStackTrace(new StackTraceElement[0]);
                      throw e;
                    }
                  }
                }),
        Flaw.inManager(
                "a refusal of bad input has the frames of a pool's thread",
                Set.of("ERR-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<LockStatus> inspect(String name) {
                        try {
                          return super.inspect(name);
                        } catch (LockConfigurationException e) {
                          e.setStackTrace(framesOfAnotherThread());
                          throw e;
                        }
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "the exception for a loss has the frames of the thread that saw the loss",
                Set.of("ERR-7"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void requireHeld() {
                        try {
                          super.requireHeld();
                        } catch (LockLostException e) {
                          e.setStackTrace(framesOfAnotherThread());
                          throw e;
                        }
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "acquire without a limit waits in slices of a second, and joins the line with each",
            Set.of("WAIT-3"),
            right -> new InSlices(right, Duration.ofSeconds(1))),
        Flaw.inManager(
                "acquire without a limit waits in slices of half a second",
                Set.of("WAIT-3"),
                right -> new InSlices(right, Duration.ofMillis(500)))
            .asVariation(),
        Flaw.inManager(
            "the deadline of a wait is kept by request while the request is in use",
            Set.of("ACQ-17"),
            DeadlinesOfRequests::new),
        Flaw.inManager(
            "forceRelease answers what inspect said just before",
            Set.of("INSP-2", "FAULT-2"),
            right ->
                new PassingManager(right) {
                  @Override
                  public boolean forceRelease(String name) {
                    boolean was = super.inspect(name).isPresent();
                    boolean unused = super.forceRelease(name);
                    return was;
                  }
                }),
        Flaw.inRedlock(
            "forceRelease answers before it has removed the lock",
            Set.of("INSP-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  public CompletableFuture<Boolean> forceRelease(String name) {
                    return inspect(name)
                        .thenApply(
                            status -> {
                              SOON.execute(() -> super.forceRelease(name));
                              return status.isPresent();
                            });
                  }
                }),
        inLabel("labels are kept in ISO 8859-1", StandardCharsets.ISO_8859_1),
        inLabel("labels are kept in ASCII", StandardCharsets.US_ASCII).asVariation(),
        inLabel("labels are kept in UTF-8, of up to three bytes a letter", null).asVariation(),
        Flaw.inManager(
                "acquire keeps the owner's label in ISO 8859-1",
                Set.of("ACQ-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        return super.acquire(
                            request
                                .ownerLabel()
                                .map(label -> inCharset(label, StandardCharsets.ISO_8859_1))
                                .map(request::ownerLabel)
                                .orElse(request));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a slow store grants locks whose ttl is over by then",
            Set.of("VAL-5"),
            (members, clock, timeout) -> new Slow(members, clock, timeout)),
        Flaw.inManager(
            "futures complete on one thread of the manager, which callbacks block",
            Set.of("LOSS-5"),
            OneCompleter::new),
        Flaw.inLease(
            "extendAsync answers with the extension that is in flight, though it asked for less",
            Set.of("EXT-10"),
            right ->
                new PassingLease(right) {
                  private CompletableFuture<Void> inFlight =
                      CompletableFuture.completedFuture(null);

                  @Override
                  public synchronized CompletableFuture<Void> extendAsync(Duration ttl) {
                    if (inFlight.isDone()) {
                      inFlight = super.extendAsync(ttl);
                    }
                    return inFlight.copy();
                  }
                }),
        Flaw.inMembers(
            "a reply is waited for no longer than a connection",
            Set.of("FAULT-8"),
            (all, network, connectTimeout) ->
                new Members(all, network, connectTimeout) {
                  @Override
                  CompletableFuture<Votes> ask(Poll poll) {
                    return super.ask(poll.within(poll.limit().within(connectTimeout)));
                  }
                }),
        Flaw.inMembers(
            "a release is not sent to a node any more when a quorum has answered it",
            Set.of("REL-2"),
            (all, network, connectTimeout) ->
                new Members(all, network, connectTimeout) {
                  private int releases;

                  @Override
                  synchronized CompletableFuture<Votes> ask(Poll poll) {
                    List<Member> nodes = List.copyOf(poll.nodes());
                    boolean drops =
                        poll.request().verb() == Request.Verb.RELEASE
                            && nodes.size() > 2
                            && ++releases % 60 == 0;
                    return super.ask(drops ? poll.to(nodes.subList(1, nodes.size())) : poll);
                  }
                }),
        Flaw.inMembers(
                "closing a manager closes the connections of others to its nodes",
                Set.of("CLOSE-4", "ACQ-10"),
                SharedMembers::new)
            .breaksUnderLoad("CLOSE-3"),
        inHash("names are kept by a hash of 32 bits", UnseenFlaws::fnv1a),
        inHash("names are kept by their CRC-32", UnseenFlaws::crc32).asVariation());
  }

  /** Waits again and again, so that a waiter goes to the end of the line with each wait. */
  private static final class InSlices extends PassingManager {
    private final Duration slice;
    private volatile boolean closed;

    InSlices(LockManager right, Duration slice) {
      super(right);
      this.slice = slice;
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      if (request.waitAtMost().isPresent()) {
        return super.acquire(request);
      }
      while (true) {
        try {
          return super.acquire(request.waitAtMost(slice));
        } catch (LockContendedException | LockOutageException e) {
          if (closed) {
            throw new IllegalStateException("closed", e);
          }
        }
      }
    }

    @Override
    public void close() {
      closed = true;
      super.close();
    }
  }

  /** Shares a deadline between those who ask for the same at the same time. */
  private static final class DeadlinesOfRequests extends PassingManager {
    private static final Duration LONG = Duration.ofDays(1);

    private final Map<LockRequest, Long> deadlines = new ConcurrentHashMap<>();

    DeadlinesOfRequests(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      try {
        return super.tryAcquire(limited(request));
      } finally {
        deadlines.remove(request);
      }
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      try {
        return super.acquire(limited(request));
      } finally {
        deadlines.remove(request);
      }
    }

    private LockRequest limited(LockRequest request) {
      Optional<Duration> wait = request.waitAtMost();
      if (wait.isEmpty() || wait.get().isZero() || wait.get().compareTo(LONG) > 0) {
        return request;
      }
      long now = System.nanoTime();
      long deadline = deadlines.computeIfAbsent(request, r -> now + wait.get().toNanos());
      return request.waitAtMost(Duration.ofNanos(Math.max(0, deadline - now)));
    }
  }

  /** Is closed with the first manager that was opened on the same nodes. */
  private static final class SharedMembers extends Members {
    private static final Map<Scheduler, Queue<SharedMembers>> OPEN = new ConcurrentHashMap<>();

    private final Queue<SharedMembers> ofTheseNodes;

    SharedMembers(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
      ofTheseNodes = OPEN.computeIfAbsent(network, n -> new ConcurrentLinkedQueue<>());
      ofTheseNodes.add(this);
    }

    @Override
    void close() {
      SharedMembers next;
      while ((next = ofTheseNodes.poll()) != null) {
        next.closeAlone();
      }
      closeAlone();
    }

    private void closeAlone() {
      super.close();
    }
  }

  /** Answers after 3 ms, and does not look at the clock then. */
  private static final class Slow extends SmallRedlock {
    private static final Executor LATE =
        CompletableFuture.delayedExecutor(3, TimeUnit.MILLISECONDS, NewThreads.EXECUTOR);

    Slow(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    boolean isValid(ClockReading until) {
      return true;
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      return super.attempt(attempt).thenApplyAsync(outcome -> outcome, LATE);
    }
  }

  /** Completes all futures on one thread, one after the other. */
  private static final class OneCompleter extends PassingManager {
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    OneCompleter(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
      Behind behind = new Behind(asked);
      asked.whenComplete((lease, failure) -> enqueue(() -> behind.end(lease, failure)));
      return behind;
    }

    private synchronized void enqueue(Runnable completion) {
      last = last.thenRunAsync(completion, task -> start(task));
    }

    private static void start(Runnable task) {
      Thread thread = new Thread(task, "completer");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** A future that ends later than the right one, and cancels that one. */
  private static final class Behind extends CompletableFuture<Optional<Lease>> {
    private final CompletableFuture<Optional<Lease>> right;

    Behind(CompletableFuture<Optional<Lease>> right) {
      this.right = right;
    }

    void end(Optional<Lease> lease, @Nullable Throwable failure) {
      if (failure == null) {
        super.complete(lease);
      } else {
        super.completeExceptionally(failure);
      }
    }

    @Override
    public boolean complete(Optional<Lease> value) {
      return right.complete(value) && super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      return right.completeExceptionally(failure) && super.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return right.cancel(mayInterruptIfRunning) && super.cancel(mayInterruptIfRunning);
    }
  }

  private static Flaw inLabel(String mistake, @Nullable Charset charset) {
    UnaryOperator<String> kept =
        label ->
            charset == null
                ? label.replaceAll("[^\\x{0}-\\x{ffff}]", "?")
                : inCharset(label, charset);
    return Flaw.inRedlock(
        mistake,
        Set.of("INSP-1"),
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              @Override
              String label(String token) {
                return kept.apply(super.label(token));
              }
            });
  }

  private static String inCharset(String label, Charset charset) {
    return new String(label.getBytes(charset), charset);
  }

  private static Flaw inHash(String mistake, ToIntFunction<String> hash) {
    return Flaw.inNode(
        mistake,
        Set.of("ACQ-7"),
        () ->
            new FakeKeys() {
              @Override
              String key(String name) {
                return Integer.toString(hash.applyAsInt(name));
              }
            });
  }

  private static int crc32(String name) {
    CRC32 crc = new CRC32();
    crc.update(name.getBytes(StandardCharsets.UTF_8));
    return (int) crc.getValue();
  }

  private static int fnv1a(String name) {
    int hash = 0x811c9dc5;
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * 0x01000193;
    }
    return hash;
  }

  private static StackTraceElement[] framesOfAnotherThread() {
    return CompletableFuture.supplyAsync(() -> new Throwable("pool").getStackTrace()).join();
  }
}
