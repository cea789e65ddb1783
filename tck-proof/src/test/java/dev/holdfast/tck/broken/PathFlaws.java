package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockedAction;
import dev.holdfast.core.ClockReading;
import dev.holdfast.tck.broken.Asked.Part;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.SmallRedlock.Held;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Mistakes on one path alone, or with one combination of settings. */
final class PathFlaws {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration AGE = Duration.ofMillis(300);
  private static final Duration LATER = Duration.ofMillis(40);

  private PathFlaws() {}

  static List<Flaw> all() {
    List<Flaw> all = new ArrayList<>(inBackends());
    all.addAll(inCalls());
    all.addAll(inOthers());
    return all;
  }

  private static List<Flaw> inBackends() {
    return List.of(
        Flaw.inRedlock(
            "an extension is compared with the end of the grant",
            Set.of("EXT-3"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  Request extension(Held held, Duration ttl) {
                    Request right = super.extension(held, ttl);
                    return new Request(
                        right.verb(),
                        right.withSource(),
                        right.name(),
                        right.text(),
                        keys -> {
                          Duration left =
                              Duration.ofNanos(clock.now().nanosUntil(held.validUntil()));
                          Object answer = right.work().apply(keys);
                          if (answer == Answer.MINE) {
                            keys.expire(held.name(), left.compareTo(ttl) > 0 ? left : ttl);
                          }
                          return answer;
                        });
                  }
                }),
        inKept(
            "forceRelease finds no lock that holdAtLeast keeps",
            "INSP-2",
            kept ->
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        return kept.noted(super.release(held, keep, mayLengthen), keep);
                      }

                      @Override
                      public CompletableFuture<Boolean> forceRelease(String name) {
                        return kept.has(name)
                            ? CompletableFuture.completedFuture(false)
                            : super.forceRelease(name);
                      }
                    }),
        inKept(
            "inspect shows no lock that holdAtLeast keeps",
            "INSP-1",
            kept ->
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        return kept.noted(super.release(held, keep, mayLengthen), keep);
                      }

                      @Override
                      Optional<LockStatus> status(String name, Votes votes) {
                        return kept.has(name) ? Optional.empty() : super.status(name, votes);
                      }
                    }),
        Flaw.inRedlock(
            "a minimum is an int of microseconds",
            Set.of("ACQ-21", "VAL-7"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  Request release(Held held, Duration keep, boolean mayLengthen) {
                    int micros = (int) (keep.toNanos() / 1_000);
                    return super.release(held, Duration.ofNanos(1_000L * micros), mayLengthen);
                  }
                }),
        Flaw.of(
            "an adoption shortens no life of a key",
            Set.of("TRANSFER-6"),
            Parts.RIGHT.withPrimitives(
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      Request swap(Adoption adoption, String token) {
                        Request right = super.swap(adoption, token);
                        return Request.of(
                            right.verb(),
                            right.name(),
                            right.text(),
                            keys -> {
                              Duration left = keys.left(right.name());
                              Object answer = right.work().apply(keys);
                              if (keys.left(right.name()).compareTo(left) < 0) {
                                keys.expire(right.name(), left);
                              }
                              return answer;
                            });
                      }
                    })),
        Flaw.of(
            "an adoption counts from 40 ms after its call",
            Set.of("TRANSFER-6"),
            Parts.RIGHT.withPrimitives(
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      ClockReading adoptedUntil(ClockReading start, Duration ttl) {
                        return super.adoptedUntil(start.plusNanos(LATER.toNanos()), ttl);
                      }
                    })),
        Flaw.inRedlock(
            "a lease counts from 40 ms after its call",
            Set.of("VAL-1"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  ClockReading validUntil(ClockReading start, Duration ttl) {
                    return super.validUntil(start.plusNanos(LATER.toNanos()), ttl);
                  }
                }));
  }

  private static List<Flaw> inCalls() {
    return List.of(
        Flaw.inManager(
            "tryRunLocked forgets holdAtLeast",
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  public <X extends Exception> boolean tryRunLocked(
                      LockRequest request, LockedAction<X> action) throws InterruptedException, X {
                    return super.tryRunLocked(Asked.without(request, Part.MIN_HOLD), action);
                  }
                }),
        Flaw.inManager(
            "tryAcquireAsync forgets the owner of a lock that is renewed",
            Set.of("ACQ-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
                    return super.tryAcquireAsync(
                        request.keepAliveUpTo().isPresent()
                            ? Asked.without(request, Part.OWNER)
                            : request);
                  }
                }),
        Flaw.inManager(
                "acquire forgets to renew a lock with an owner of its own",
                Set.of("ACQ-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        return super.acquire(
                            request.ownerLabel().isPresent()
                                ? Asked.without(request, Part.MAX_HOLD)
                                : request);
                      }
                    })
            .asVariation(),
        Flaw.inManager(
            "acquire cuts its wait to milliseconds",
            Set.of("WAIT-16"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Lease acquire(LockRequest request) throws InterruptedException {
                    return super.acquire(
                        request
                            .waitAtMost()
                            .filter(wait -> wait.compareTo(MINUTE) < 0)
                            .map(wait -> request.waitAtMost(wait.truncatedTo(ChronoUnit.MILLIS)))
                            .orElse(request));
                  }
                }),
        Flaw.inManager("ping is true for 300 ms", Set.of("NODES-4"), OldAnswers::new),
        Flaw.inLease(
            "extendAsync says that it has extended by a ttl that is refused",
            Set.of("VAL-6"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<Void> extendAsync(Duration ttl) {
                    return super.extendAsync(ttl)
                        .exceptionally(
                            failure -> {
                              if (cause(failure) instanceof LockConfigurationException) {
                                return null;
                              }
                              throw new CompletionException(cause(failure));
                            });
                  }
                }),
        Flaw.inLease(
            "requireHeld throws the same exception again", Set.of("ERR-7"), FirstLoss::new),
        Flaw.of(
                "a transfer beyond maxTtl is cut to a second",
                Set.of("VAL-6"),
                Parts.TRANSFERRING.withManagers(
                    right -> PassingManager.withLeases(right.get(), CutTransfers::new)))
            .asVariation(),
        Flaw.of(
            "a second transfer shows the text of the first",
            Set.of("TRANSFER-10"),
            Parts.TRANSFERRING.withManagers(
                right -> PassingManager.withLeases(right.get(), ShowingTexts::new))));
  }

  private static List<Flaw> inOthers() {
    return List.of(
        Flaw.of(
            "leases() shows what was transferred",
            Set.of("NODES-3"),
            Parts.TRANSFERRING.withManagers(right -> new ShowingTransferred(right.get()))),
        Flaw.inManager(
            "a registration is found by its listener", Set.of("LISTEN-8"), ByListener::new),
        Flaw.inManager(
            "close(grace) forgets an interrupt until it is over",
            Set.of("CLOSE-3"),
            right ->
                new PassingManager(right) {
                  @Override
                  public void close(Duration grace) {
                    boolean interrupted = Thread.interrupted();
                    super.close(grace);
                    if (interrupted) {
                      Thread.currentThread().interrupt();
                    }
                  }
                }),
        Flaw.inManager(
            "close(grace) leaves a thread that close() ends", Set.of("CLOSE-4"), WithThread::new),
        Flaw.inManager(
            "remaining() counts on when the manager is closed", Set.of("VAL-3"), CountingOn::new));
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  private static Flaw inKept(
      String mistake, String rule, Function<Kept, Parts.Primitives> primitives) {
    return Flaw.inRedlock(mistake, Set.of(rule), primitives.apply(new Kept()));
  }

  /** The locks that are kept after their release. Names are used once. */
  private static final class Kept {
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    Request noted(Request release, Duration keep) {
      if (!keep.isZero()) {
        names.add(release.name());
      }
      return release;
    }

    boolean has(String name) {
      return names.contains(name);
    }
  }

  private static final class OldAnswers extends PassingManager {
    private final Map<Boolean, Long> answered = new ConcurrentHashMap<>();

    OldAnswers(LockManager right) {
      super(right);
    }

    @Override
    public boolean ping(Duration timeout) {
      long now = System.nanoTime();
      if (!timeout.isZero()
          && now - answered.getOrDefault(true, now - AGE.toNanos()) < AGE.toNanos()) {
        return true;
      }
      boolean isAnswered = super.ping(timeout);
      answered.put(isAnswered, now);
      return isAnswered;
    }

    @Override
    public void close() {
      answered.clear();
      super.close();
    }
  }

  private static final class FirstLoss extends PassingLease {
    private @Nullable LockLostException first;

    FirstLoss(Lease right) {
      super(right);
    }

    @Override
    public synchronized void requireHeld() {
      if (first != null) {
        throw first;
      }
      try {
        super.requireHeld();
      } catch (LockLostException e) {
        first = e;
        throw e;
      }
    }
  }

  private static final class ShowingTexts extends PassingLease {
    private volatile String text = "";

    ShowingTexts(Lease right) {
      super(right);
    }

    @Override
    public String transfer(Duration within) {
      if (!text.isEmpty()) {
        throw new IllegalStateException("'" + name() + "' was transferred before, by " + text);
      }
      text = super.transfer(within);
      return text;
    }
  }

  private static final class ShowingTransferred extends PassingManager {
    private final List<HeldLock> transferred = new CopyOnWriteArrayList<>();

    ShowingTransferred(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public String transfer(Duration within) {
          String text = super.transfer(within);
          transferred.add(new HeldLock(name(), "former", Instant.now(), within, Optional.empty()));
          return text;
        }
      };
    }

    @Override
    public List<HeldLock> leases() {
      List<HeldLock> all = new ArrayList<>(super.leases());
      all.addAll(transferred);
      return all;
    }
  }

  private static final class ByListener extends PassingManager {
    private final Map<LockListener, LockListener.Registration> last = new ConcurrentHashMap<>();

    ByListener(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      last.put(listener, right.addListener(listener));
      return () -> Optional.ofNullable(last.remove(listener)).ifPresent(one -> one.close());
    }
  }

  private static final class WithThread extends PassingManager {
    private final CountDownLatch closed = new CountDownLatch(1);

    WithThread(LockManager right) {
      super(right);
      Thread thread = new Thread(this::run, "of-one-manager");
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        closed.await(1, TimeUnit.HOURS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      super.close();
      closed.countDown();
    }
  }

  private static final class CountingOn extends PassingManager {
    private volatile boolean closed;

    CountingOn(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      long end = System.nanoTime() + granted.remaining().toNanos();
      return new PassingLease(granted) {
        @Override
        public Duration remaining() {
          long left = end - System.nanoTime();
          return closed && left > 0 ? Duration.ofNanos(left) : super.remaining();
        }
      };
    }

    @Override
    public void close() {
      super.close();
      closed = true;
    }
  }

  /** Transfers within a second if a longer time is refused. */
  private static final class CutTransfers extends PassingLease {
    CutTransfers(Lease right) {
      super(right);
    }

    @Override
    public String transfer(Duration within) {
      try {
        return super.transfer(within);
      } catch (LockConfigurationException tooLong) {
        return super.transfer(Duration.ofSeconds(1));
      }
    }
  }
}
