package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Nodes are waited for: too long, not long enough, or by requests that it does not help. */
final class TimeoutFlaws {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private TimeoutFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
            "a quorum of answers is waited for no longer than the last nodes are",
            Set.of("FAULT-8"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, Timeouts.both(timeouts.node()))),
        Flaw.inMembers(
                "the last nodes are waited for as long as a quorum is",
                Set.of("FAULT-2"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      CompletableFuture<Votes> ask(Poll poll) {
                        return super.ask(poll.within(Timeouts.both(poll.limit().quorum())));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "a ttl has to exceed the time that nodes may take, or half a second",
                Set.of("VAL-6"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      public void requireUsable(String name, Duration ttl) {
                        super.requireUsable(name, ttl);
                        Duration half = Duration.ofMillis(500);
                        Duration least = timeouts.within(half).node();
                        if (ttl.compareTo(least) <= 0) {
                          throw new LockConfigurationException(
                              "the ttl "
                                  + ttl.toMillis()
                                  + " ms is not above nodeTimeout: ask for more");
                        }
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "the first renewal is counted from the grant", Set.of("KEEP-5"), LateRenewal::new),
        Flaw.inLease(
            "an extension goes on when its lease has ended",
            Set.of("EXT-9"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void extend(Duration ttl) {
                    try {
                      super.extend(ttl);
                    } catch (LockLostException lost) {
                      if (lost.reason() == LossReason.EXPIRED) {
                        new CompletableFuture<>()
                            .completeOnTimeout(lost, 1_500, TimeUnit.MILLISECONDS)
                            .join();
                      }
                      throw lost;
                    }
                  }
                }),
        Flaw.inLease(
                "a lease that ends during a renewal has expired",
                Set.of("LOSS-4"),
                right -> renamed(right, LossReason.UNREACHABLE, LossReason.EXPIRED))
            .asVariation(),
        Flaw.inLease(
                "a lease that ends during its holder's extension is unreachable",
                Set.of("LOSS-4"),
                right ->
                    new PassingLease(right) {
                      private volatile boolean isBeingExtended;

                      @Override
                      public void extend(Duration ttl) {
                        isBeingExtended = true;
                        super.extend(ttl);
                        isBeingExtended = false;
                      }

                      @Override
                      public void requireHeld() {
                        if (isBeingExtended) {
                          renamed(right, LossReason.EXPIRED, LossReason.UNREACHABLE).requireHeld();
                        }
                        super.requireHeld();
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a release waits for an extension that is under way", Set.of("REL-9"), OneByOne::new),
        Flaw.inRedlock(
                "an extension goes on behind a release",
                Set.of("REL-9"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      void abandonExtension(Held held) {}
                    })
            .asVariation(),
        Flaw.inLease(
            "each release that is not confirmed is warned of",
            Set.of("REL-10"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void close() {
                    try {
                      if (!release()) {
                        warn(name(), "it had been lost");
                      }
                    } catch (LockException unconfirmed) {
                      warn(name(), String.valueOf(unconfirmed.getMessage()));
                    }
                  }
                }),
        Flaw.inLease(
                "a release is warned of when it is slow",
                Set.of("REL-10"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void close() {
                        CompletableFuture<Boolean> closed = new CompletableFuture<>();
                        closed
                            .completeOnTimeout(false, 50, TimeUnit.MILLISECONDS)
                            .thenAccept(
                                inTime -> {
                                  if (!inTime) {
                                    warn(name(), "it takes long");
                                  }
                                });
                        super.close();
                        closed.complete(true);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "nothing is known of an attempt until it is over",
            Set.of("WAIT-15"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  @Nullable LockException outageSoFar(
                      String name, ClockReading start, Votes votes) {
                    return null;
                  }
                }));
  }

  private static void warn(String name, String why) {
    LOG.log(Level.WARNING, "the release of ''{0}'' was not confirmed: {1}", name, why);
  }

  /** Gives one reason of a loss for another. */
  private static Lease renamed(Lease right, LossReason reason, LossReason wrong) {
    return new PassingLease(right) {
      @Override
      public void requireHeld() {
        try {
          super.requireHeld();
        } catch (LockLostException lost) {
          throw lost.reason() == reason ? new LockLostException(name(), wrong) : lost;
        }
      }

      @Override
      public CompletableFuture<LossReason> onLoss() {
        return super.onLoss().thenApply(notified -> notified == reason ? wrong : notified);
      }
    };
  }

  /** Renews a lock first when a third of its ttl has passed since it was notified of its grant. */
  private static final class LateRenewal extends SmallRedlock {
    private final Map<String, Long> late = new ConcurrentHashMap<>();
    private final Clock clock;

    LateRenewal(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
      this.clock = clock;
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      long begun = clock.nanos();
      long third = attempt.ttl().toNanos() / 3;
      return super.attempt(attempt)
          .thenApply(
              outcome -> {
                if (outcome instanceof Held held && clock.nanos() - begun > third) {
                  late.put(held.token(), clock.nanos() + third);
                }
                return outcome;
              });
    }

    @Override
    public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
      Long due = late.remove(grant.token());
      return due == null
          ? super.extend(grant, ttl)
          : new CompletableFuture<>()
              .completeOnTimeout(due, Math.max(1, due - clock.nanos()), TimeUnit.NANOSECONDS)
              .thenCompose(now -> super.extend(grant, ttl));
    }
  }

  /** Asks for nothing about a lock before what was asked last has been answered. */
  private static final class OneByOne extends SmallRedlock {
    private final Map<String, CompletableFuture<?>> last = new ConcurrentHashMap<>();

    OneByOne(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
      CompletableFuture<Extension> asked = super.extend(grant, ttl);
      last.put(grant.token(), asked);
      return asked;
    }

    @Override
    public CompletableFuture<Released> release(Release release) {
      CompletableFuture<?> before = last.remove(release.grant().token());
      return before == null
          ? super.release(release)
          : before.handle((r, f) -> r).thenCompose(over -> super.release(release));
    }
  }
}
