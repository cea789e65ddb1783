package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Extensions, asked for and in the background. */
final class ExtendFlaws {
  /** The thread of managers' renewals. */
  private static final String TIMER = "holdfast-timer";

  private ExtendFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inLease(
                "a lease ends with its first ttl, whatever has been extended since",
                Set.of("EXT-1", "KEEP-1"),
                right ->
                    new PassingLease(right) {
                      private final long end = System.nanoTime() + right.remaining().toNanos();

                      @Override
                      public boolean isHeld() {
                        return super.isHeld() && System.nanoTime() - end < 0;
                      }

                      @Override
                      public void requireHeld() {
                        super.requireHeld();
                        if (!isHeld()) {
                          throw new LockLostException(name(), LossReason.EXPIRED);
                        }
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "an extension by less is less",
                Set.of("EXT-3"),
                right ->
                    new PassingLease(right) {
                      private volatile long end = System.nanoTime() + Long.MAX_VALUE / 2;

                      @Override
                      public void extend(Duration ttl) {
                        super.extend(ttl);
                        end = System.nanoTime() + ttl.toNanos();
                      }

                      @Override
                      public Duration remaining() {
                        Duration reported = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
                        return reported.compareTo(super.remaining()) < 0
                            ? reported
                            : super.remaining();
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "an extension is for a few seconds at most",
                Set.of("EXT-1", "ERR-4", "VAL-6"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void extend(Duration ttl) {
                        super.extend(few(ttl));
                      }

                      @Override
                      public CompletableFuture<Void> extendAsync(Duration ttl) {
                        return super.extendAsync(few(ttl));
                      }

                      private Duration few(Duration ttl) {
                        Duration few = Duration.ofSeconds(6);
                        return ttl.compareTo(few) < 0 ? ttl : few;
                      }
                    })
            .asVariation(),
        inRequest(
            "an extension compares nothing",
            Set.of("EXT-1"),
            (held, ttl) ->
                keys -> {
                  if (!keys.contains(held.name())) {
                    keys.put(held.name(), held.token(), ttl);
                    return Answer.MISSING;
                  }
                  if (keys.left(held.name()).compareTo(ttl) < 0) {
                    keys.expire(held.name(), ttl);
                  }
                  return Answer.MINE;
                }),
        inRequest(
            "a key that an extension puts back is a vote at once",
            Set.of("EXT-1", "EXT-7"),
            (held, ttl) ->
                keys -> {
                  if (!keys.contains(held.name())) {
                    keys.put(held.name(), held.token(), ttl);
                  }
                  return Request.extend(held.name(), held.token(), ttl).work().apply(keys);
                }),
        inRequest(
            "an extension sets the ttl, even if more is left",
            Set.of("EXT-3"),
            (held, ttl) ->
                keys -> {
                  Object answer = Request.extend(held.name(), held.token(), ttl).work().apply(keys);
                  if (answer == Answer.MINE) {
                    keys.expire(held.name(), ttl);
                  }
                  return answer;
                }),
        inRequest(
                "a node that lost its key never gets it back",
                Set.of("EXT-7"),
                (held, ttl) ->
                    keys ->
                        keys.contains(held.name())
                            ? Request.extend(held.name(), held.token(), ttl).work().apply(keys)
                            : Answer.MISSING)
            .asVariation(),
        Flaw.inManager(
                "keepAliveUpTo is counted from the last extension",
                Set.of("EXT-8"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        return super.tryAcquire(request)
                            .map(
                                lease ->
                                    request
                                        .keepAliveUpTo()
                                        .<Lease>map(hold -> new Prolonged(lease, hold))
                                        .orElse(lease));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "one node's extension is enough",
            Set.of("EXT-1", "EXT-4"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isExtended(Votes votes) {
                    return votes.mine() > 0;
                  }
                }),
        Flaw.inRedlock(
                "an extension that nobody answers is a loss",
                Set.of("EXT-4", "ERR-6"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Extension noQuorum(Held held, Votes votes) {
                        return new Lost(LossReason.UNREACHABLE);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a lock that is gone is an outage for whoever extends it",
            Set.of("EXT-5"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Extension lost(Held held, Votes votes) {
                    throw new LockOutageException("nobody extended it", votes.failures(), true);
                  }
                }),
        Flaw.inRedlock(
            "what an extension put back stays when the lock is lost",
            Set.of("EXT-6"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  private final Set<String> lost = ConcurrentHashMap.newKeySet();

                  @Override
                  Extension lost(Held held, Votes votes) {
                    lost.add(held.token());
                    return super.lost(held, votes);
                  }

                  @Override
                  Collection<Member> releaseFrom(Held held) {
                    return lost.contains(held.token()) ? List.of() : super.releaseFrom(held);
                  }
                }),
        Flaw.inRedlock(
            "renewal ends with its first failure",
            Set.of("KEEP-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  private final Set<String> givenUp = ConcurrentHashMap.newKeySet();

                  @Override
                  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
                    boolean isRenewal = Thread.currentThread().getName().equals(TIMER);
                    if (isRenewal && givenUp.contains(grant.token())) {
                      return CompletableFuture.failedFuture(
                          new LockOutageException("given up", Map.of(), false));
                    }
                    return super.extend(grant, ttl)
                        .whenComplete(
                            (extension, failure) -> {
                              if (failure != null) {
                                givenUp.add(grant.token());
                              }
                            });
                  }
                }),
        Flaw.inRedlock("renewals go on after the release", Set.of("KEEP-3"), GoesOn::new));
  }

  /** Puts a mistake into what nodes do when they are asked to extend. */
  private static Flaw inRequest(
      String mistake,
      Set<String> rules,
      BiFunction<SmallRedlock.Held, Duration, Function<FakeKeys, Object>> work) {
    return Flaw.inRedlock(
        mistake,
        rules,
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              @Override
              Request extension(Held held, Duration ttl) {
                return Request.of(
                    Verb.EXTEND, held.name(), held.token() + " " + ttl, work.apply(held, ttl));
              }
            });
  }

  /** Shows more time than there is. */
  private static final class Prolonged extends PassingLease {
    private final Duration maxHold;
    private volatile long end = System.nanoTime();

    Prolonged(Lease right, Duration maxHold) {
      super(right);
      this.maxHold = maxHold;
    }

    @Override
    public void extend(Duration ttl) {
      super.extend(ttl);
      end = System.nanoTime() + (ttl.compareTo(maxHold) < 0 ? ttl : maxHold).toNanos();
    }

    @Override
    public Duration remaining() {
      Duration reported = Duration.ofNanos(end - System.nanoTime());
      return isHeld() && reported.compareTo(super.remaining()) > 0 ? reported : super.remaining();
    }
  }

  /** Renews what was released, if it is still or again there. */
  private static final class GoesOn extends SmallRedlock {
    private static final int TIMES = 200;
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(30, TimeUnit.MILLISECONDS);

    private final Map<String, Duration> ttls = new ConcurrentHashMap<>();

    GoesOn(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    Request set(Attempt attempt, String token) {
      ttls.put(token, attempt.ttl());
      return super.set(attempt, token);
    }

    @Override
    Optional<LossReason> released(Held held, Votes votes) {
      renew(held, ttls.getOrDefault(held.token(), Duration.ZERO), TIMES);
      return super.released(held, votes);
    }

    private void renew(Held held, Duration ttl, int times) {
      if (times > 0 && ttl.compareTo(Duration.ofSeconds(1)) < 0) {
        LATER.execute(
            () -> ask(renewal(held), Votes::isComplete).thenRun(() -> renew(held, ttl, times - 1)));
      }
    }

    private static Request renewal(Held held) {
      return Request.of(
          Verb.EXTEND,
          held.name(),
          held.token(),
          keys -> {
            if (keys.holds(held.name(), held.token())) {
              keys.expire(held.name(), Duration.ofSeconds(20));
            }
            return Request.compared(keys, held.name(), held.token());
          });
    }
  }
}
