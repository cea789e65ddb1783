package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** Locks that are released, by their holders or by force. */
final class ReleaseFlaws {
  private ReleaseFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
                "inspect always shows somebody",
                Set.of("INSP-1", "RES-2"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Optional<LockStatus> status(String name, Votes votes) {
                        LockStatus noHolder =
                            new LockStatus(
                                name,
                                "nobody",
                                Duration.ofMillis(1),
                                new LockVotes(1, votes.nodes() - 1, 0));
                        return Optional.of(super.status(name, votes).orElse(noHolder));
                      }
                    })
            .asVariation(),
        inAnswer("a release is false whatever came of it", Set.of("REL-3", "ACQ-14"), false)
            .asVariation(),
        Flaw.inRedlock("a release looks first, and deletes then", Set.of("REL-1"), LooksFirst::new)
            .asVariation(),
        Flaw.inManager(
                "the second release looks again, and says the opposite",
                Set.of("REL-5"),
                right ->
                    new PassingManager(right) {
                      @Override
                      Lease lease(Lease granted) {
                        return new Undecided(granted, right);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "inspect shows what it saw first",
                Set.of("INSP-1", "RES-2"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      private final Map<String, LockStatus> seen = new ConcurrentHashMap<>();

                      @Override
                      Optional<LockStatus> status(String name, Votes votes) {
                        super.status(name, votes)
                            .ifPresent(status -> seen.putIfAbsent(name, status));
                        return Optional.ofNullable(seen.get(name));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "what is not of our form is not released by force",
                Set.of("INSP-2"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      public CompletableFuture<Boolean> forceRelease(String name) {
                        return inspect(name)
                            .thenCompose(
                                status ->
                                    status.filter(s -> s.ownerLabel().contains(":")).isPresent()
                                        ? super.forceRelease(name)
                                        : CompletableFuture.completedFuture(false));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "what was taken is called removed, and what was removed taken",
                Set.of("EXT-5", "INSP-2", "LOSS-4"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      LossReason lossOf(Votes votes) {
                        return super.lossOf(votes) == LossReason.TAKEN
                            ? LossReason.REMOVED
                            : LossReason.TAKEN;
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a release deletes without comparing",
            Set.of("EXT-1", "REL-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep, boolean mayLengthen) {
                    Request right = super.release(held, keep, mayLengthen);
                    return Request.of(
                        Request.Verb.RELEASE,
                        held.name(),
                        held.token() + " " + keep,
                        keys -> {
                          Object answer = right.work().apply(keys);
                          if (keep.isZero()) {
                            keys.remove(held.name());
                          }
                          return answer;
                        });
                  }
                }),
        Flaw.inRedlock(
            "a release goes to the nodes that granted",
            Set.of("REL-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Collection<Member> releaseFrom(Held held) {
                    return held.granted();
                  }
                }),
        inAnswer("a release is true whatever came of it", Set.of("LOSS-9", "REL-3"), true),
        Flaw.inRedlock(
            "a release that nobody answers has gone well",
            Set.of("REL-4"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Optional<LossReason> released(Held held, Votes votes) {
                    return isAnswered(votes) ? super.released(held, votes) : Optional.empty();
                  }
                }),
        Flaw.inLease(
            "the second release is false",
            Set.of("REL-5"),
            right ->
                new PassingLease(right) {
                  private final AtomicBoolean released = new AtomicBoolean();

                  @Override
                  public boolean release() {
                    return !released.getAndSet(true) && super.release();
                  }
                }),
        Flaw.inMember(
            "what could not be released is forgotten",
            Set.of("ACQ-4", "REL-1", "REL-6"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  @Override
                  void defer(Request request) {}
                }),
        Flaw.inLease(
            "closing a lease that was lost throws",
            Set.of("REL-7"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void close() {
                    if (!release()) {
                      throw new LockLostException(name(), LossReason.EXPIRED);
                    }
                  }
                }),
        Flaw.inLease(
                "closing a lease that was lost is not worth a warning",
                Set.of("REL-7"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void close() {
                        try {
                          release();
                        } catch (LockException silent) {
                          // which is the mistake
                        }
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "close() sends the release and does not wait for the answer",
                Set.of("REL-11", "LISTEN-5"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void close() {
                        if (!isHeld()) {
                          super.close(); // which warns
                        }
                        releaseAsync();
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a release lets the lock expire soon",
            Set.of("REL-8"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep, boolean mayLengthen) {
                    Duration soon = Duration.ofMillis(100);
                    return super.release(held, keep.compareTo(soon) < 0 ? soon : keep, mayLengthen);
                  }
                }),
        Flaw.inRedlock(
            "holdAtLeast is not heeded",
            Set.of("ACQ-11", "ACQ-21", "ACQ-22"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep, boolean mayLengthen) {
                    return super.release(held, Duration.ZERO, mayLengthen);
                  }
                }),
        Flaw.inRedlock(
            "there was always something to release by force",
            Set.of("INSP-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  public CompletableFuture<Boolean> forceRelease(String name) {
                    return super.forceRelease(name).thenApply(there -> true);
                  }
                }),
        Flaw.inRedlock(
            "inspect shows the token for a label",
            Set.of("INSP-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  String label(String token) {
                    return token;
                  }
                }),
        Flaw.inRedlock(
                "inspect counts the nodes that answer",
                Set.of("INSP-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      public CompletableFuture<Optional<LockStatus>> inspect(String name) {
                        return super.inspect(name)
                            .thenApply(
                                found ->
                                    found.map(
                                        s ->
                                            new LockStatus(
                                                name,
                                                s.ownerLabel(),
                                                s.remaining(),
                                                new LockVotes(s.votes().granted(), 0, 0))));
                      }
                    })
            .asVariation());
  }

  private static Flaw inAnswer(String mistake, Set<String> rules, boolean answer) {
    return Flaw.inLease(
        mistake,
        rules,
        right ->
            new PassingLease(right) {
              @Override
              public boolean release() {
                super.release();
                return answer;
              }

              @Override
              public CompletableFuture<Boolean> releaseAsync() {
                return super.releaseAsync().thenApply(held -> answer);
              }
            });
  }

  /** Deletes whatever has come since it looked. */
  private static final class LooksFirst extends SmallRedlock {
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    LooksFirst(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Released> release(Release release) {
      if (!release.keep().isZero()) {
        return super.release(release);
      }
      Held held = (Held) release.grant();
      return ask(Request.look(held.name()), Votes::isComplete)
          .thenCompose(
              votes -> {
                if (isOnAll(held, votes)) {
                  seen.add(held.token());
                }
                return super.release(release);
              });
    }

    @Override
    Request release(Held held, Duration keep, boolean mayLengthen) {
      if (!seen.remove(held.token())) {
        return super.release(held, keep, mayLengthen);
      }
      return Request.of(
          Request.Verb.RELEASE,
          held.name(),
          held.token(),
          keys -> {
            keys.remove(held.name());
            return Request.Answer.MINE;
          });
    }

    private static boolean isOnAll(Held held, Votes votes) {
      return votes.replies().size() == votes.nodes()
          && votes.replies().values().stream()
              .allMatch(
                  reply -> reply instanceof Request.Seen lock && lock.token().equals(held.token()));
    }
  }

  /** Remembers that it was released, but not what came of it. */
  private static final class Undecided extends PassingLease {
    private final LockManager manager;
    private final AtomicBoolean released = new AtomicBoolean();

    Undecided(Lease right, LockManager manager) {
      super(right);
      this.manager = manager;
    }

    @Override
    public boolean release() {
      if (!released.getAndSet(true)) {
        return super.release();
      }
      manager.inspect(name());
      return !super.release();
    }
  }
}
