package dev.holdfast.tck.broken;

import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Seen;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Attempts, their votes, and the time that they take. */
final class AcquireFlaws {
  private AcquireFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inSettings(
                "maxTtl is not heeded",
                Set.of("VAL-6", "ERR-4"),
                builder -> builder.maxTtl(ManagerOptions.LONGEST_MAX_TTL))
            .asVariation(),
        Flaw.inRedlock(
                "an operator takes silence for an answer",
                Set.of("ERR-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Optional<LockStatus> status(String name, Votes votes) {
                        return isAnswered(votes) ? super.status(name, votes) : Optional.empty();
                      }

                      @Override
                      boolean removed(String name, Votes votes) {
                        return isAnswered(votes) && super.removed(name, votes);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "whoever says something has said yes",
                Set.of("ERR-6"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      boolean isGranted(Votes votes) {
                        return votes.isQuorum(
                            votes.mine()
                                + votes.failed(Kind.MENDABLE)
                                + votes.count(Answer.OTHER_TYPE));
                      }

                      @Override
                      boolean isExtended(Votes votes) {
                        return votes.isQuorum(votes.mine() + votes.failed(Kind.MENDABLE));
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "one key of another type spoils every attempt",
                Set.of("ACQ-9"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      boolean isGranted(Votes votes) {
                        return super.isGranted(votes) && votes.count(Answer.OTHER_TYPE) == 0;
                      }

                      @Override
                      boolean isOtherTypeToBlame(Votes votes) {
                        return votes.count(Answer.OTHER_TYPE) > 0;
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "all attempts of a manager have one token",
                Set.of("ACQ-5", "ACQ-8", "ACQ-14", "ACQ-11"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      private final String only = UUID.randomUUID().toString();

                      @Override
                      String token(Attempt attempt) {
                        return attempt.ownerLabel() + ":" + only;
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
                "every node has to answer",
                Set.of("FAULT-1", "FAULT-8", "OPEN-1", "REL-2", "WAIT-15"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      boolean isGranted(Votes votes) {
                        return super.isGranted(votes) && votes.answered() == votes.nodes();
                      }

                      @Override
                      CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
                        return ask(set(attempt, token), Votes::isComplete);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "N/2 nodes are enough",
            Set.of("ACQ-2", "ERR-6"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isGranted(Votes votes) {
                    return votes.mine() >= Math.max(1, votes.nodes() / 2);
                  }
                }),
        Flaw.inRedlock(
            "more than half of the nodes that can be reached are enough",
            Set.of("ACQ-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isGranted(Votes votes) {
                    return super.isGranted(votes)
                        || (votes.isComplete() && votes.mine() > votes.answered() / 2);
                  }
                }),
        Flaw.inRedlock(
            "a node that answers with an error has granted",
            Set.of("ERR-6"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isGranted(Votes votes) {
                    return votes.isQuorum(votes.mine() + votes.failed(Kind.PASSING));
                  }
                }),
        Flaw.inRedlock(
            "an attempt looks first, and sets then",
            Set.of("ACQ-1", "ACQ-4", "INT-1", "WAIT-15"),
            LooksFirst::new),
        Flaw.inRedlock(
            "a value that is not of our form keeps nobody out",
            Set.of("INT-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request set(Attempt attempt, String token) {
                    Request right = super.set(attempt, token);
                    return Request.of(
                        Verb.SET,
                        attempt.name(),
                        token,
                        keys -> {
                          if (keys.token(attempt.name())
                              .filter(t -> !t.contains(":"))
                              .isPresent()) {
                            keys.remove(attempt.name());
                          }
                          return right.work().apply(keys);
                        });
                  }
                }),
        Flaw.inRedlock(
            "the error of one node is everybody's",
            Set.of("FAULT-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isGranted(Votes votes) {
                    return super.isGranted(votes)
                        && votes.failed(Kind.PASSING) + votes.failed(Kind.MENDABLE) == 0;
                  }
                }),
        Flaw.inRedlock(
            "validity begins with the last answer",
            Set.of("VAL-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  ClockReading validUntil(ClockReading start, Duration ttl) {
                    return super.validUntil(clock.now(), ttl);
                  }
                }),
        Flaw.inRedlock(
            "nothing is taken off for drift",
            Set.of("VAL-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  ClockReading validUntil(ClockReading start, Duration ttl) {
                    return start.plusNanos(ttl.toNanos());
                  }
                }),
        Flaw.inRedlock(
            "a grant that came too late is a grant",
            Set.of("VAL-5"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isValid(ClockReading until) {
                    return true;
                  }
                }),
        Flaw.inRedlock(
                "a grant that came too late is contention",
                Set.of("VAL-5"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      boolean isLate(Votes votes) {
                        return false;
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "any ttl will do",
            Set.of("VAL-6"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  public void requireUsable(String name, Duration ttl) {}
                }),
        Flaw.of(
            "time is read from the wall clock alone",
            Set.of("LOSS-1", "LOSS-7", "VAL-2", "WAIT-16"),
            Parts.RIGHT.withTime(
                stepped ->
                    new Clock() {
                      @Override
                      public long nanos() {
                        return 1_000 * stepped.wallMicros();
                      }

                      @Override
                      public long wallMicros() {
                        return stepped.wallMicros();
                      }
                    })),
        Flaw.of(
            "time is read from the monotonic clock alone",
            Set.of("LOSS-7", "VAL-2"),
            Parts.RIGHT.withTime(stepped -> Clock.system())),
        Flaw.inRedlock(
            "a failed attempt leaves its keys",
            Set.of("ACQ-3", "ACQ-4"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  CompletableFuture<Votes> releaseAttempt(Held held, Votes votes, Timeouts limit) {
                    return CompletableFuture.completedFuture(votes);
                  }
                }),
        Flaw.inRedlock(
                "a failed attempt is taken back where it was granted, and not where no answer came from",
                Set.of("ACQ-3"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Collection<Member> releaseAttemptFrom(Held held) {
                        return held.granted();
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a failed attempt deletes without comparing, where no answer came from",
            Set.of("ACQ-4"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  CompletableFuture<Votes> releaseAttempt(Held held, Votes votes, Timeouts limit) {
                    members.ask(
                        new Poll(
                            votes.silent(members.all()),
                            Request.remove(held.name()),
                            limit,
                            Votes::isComplete,
                            node -> false));
                    return super.releaseAttempt(held, votes, limit);
                  }
                }),
        Flaw.inRedlock(
                "an attempt gives the key that it finds its own ttl, if that is shorter",
                Set.of("ACQ-4"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Request set(Attempt attempt, String token) {
                        Request right = super.set(attempt, token);
                        return Request.of(
                            Verb.SET,
                            attempt.name(),
                            token,
                            keys -> {
                              if (keys.left(attempt.name()).compareTo(attempt.ttl()) > 0) {
                                keys.expire(attempt.name(), attempt.ttl());
                              }
                              return right.work().apply(keys);
                            });
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "the attempt after one that was refused has its token",
            Set.of("ACQ-5"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  private final Map<String, String> unused = new ConcurrentHashMap<>();

                  @Override
                  String token(Attempt attempt) {
                    String token = unused.remove(attempt.name());
                    return token == null ? super.token(attempt) : token;
                  }

                  @Override
                  Outcome refusal(Held held, Votes votes) {
                    unused.put(held.name(), held.token());
                    return super.refusal(held, votes);
                  }
                }),
        Flaw.inRedlock(
            "a key of another type is just somebody else's lock",
            Set.of("ACQ-9"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean isOtherTypeToBlame(Votes votes) {
                    return false;
                  }
                }),
        Flaw.inRedlock(
                "contention is an outage unless every node answers",
                Set.of("ERR-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Outcome refusal(Held held, Votes votes) {
                        if (votes.answered() < votes.nodes()) {
                          throw new LockOutageException(
                              "not all nodes voted", votes.failures(), false);
                        }
                        return super.refusal(held, votes);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "contention is an outage",
            Set.of("ERR-1", "ACQ-6", "ACQ-8", "RES-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Outcome refusal(Held held, Votes votes) {
                    super.refusal(held, votes);
                    throw new LockOutageException("no quorum granted", votes.failures(), false);
                  }
                }),
        Flaw.inRedlock(
            "an outage is contention",
            Set.of("ERR-1", "ERR-6"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Outcome refusal(Held held, Votes votes) {
                    try {
                      return super.refusal(held, votes);
                    } catch (LockOutageException outage) {
                      return new Refusal(
                          new LockVotes(votes.mine(), votes.nodes() - votes.mine(), 0));
                    }
                  }
                }),
        Flaw.inRedlock(
                "what a person must mend is an outage",
                Set.of("ERR-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      LockException outage(String message, Votes votes, boolean outcomeUnknown) {
                        return new LockOutageException(message, votes.failures(), outcomeUnknown);
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "an outage names the first node only",
            Set.of("ERR-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  LockException outage(String message, Votes votes, boolean outcomeUnknown) {
                    LockException right = super.outage(message, votes, outcomeUnknown);
                    return right instanceof LockOutageException
                        ? new LockOutageException(message, first(votes.failures()), outcomeUnknown)
                        : right;
                  }
                }),
        Flaw.inRedlock(
            "the driver's own exception comes through where a right is missing",
            Set.of("ERR-5"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  boolean removed(String name, Votes votes) {
                    votes.failures().values().stream()
                        .filter(error -> error.kind() == Kind.MENDABLE)
                        .forEach(
                            error -> {
                              throw error;
                            });
                    return super.removed(name, votes);
                  }
                }),
        Flaw.inMembers(
                "nodes are asked one after the other",
                Set.of("FAULT-2", "REL-9"),
                OneAfterTheOther::new)
            .breaksUnderLoad("FAULT-8")
            .asVariation(),
        Flaw.inMembers(
            "everybody waits for the slowest node, and long",
            Set.of("FAULT-2", "REL-1", "REL-2", "REL-9"),
            (all, network, connectTimeout) ->
                new Members(all, network, connectTimeout) {
                  @Override
                  CompletableFuture<Votes> ask(Poll poll) {
                    Timeouts longer = Timeouts.both(poll.limit().quorum().multipliedBy(3));
                    return super.ask(poll.within(longer).until(Votes::isComplete));
                  }
                }),
        Flaw.inRedlock(
            "FENCING_TOKEN is declared, and there is none",
            Set.of("ACQ-12", "CAP-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  public Set<LockCapability> capabilities() {
                    Set<LockCapability> all = EnumSet.copyOf(super.capabilities());
                    all.add(LockCapability.FENCING_TOKEN);
                    return all;
                  }
                }));
  }

  private static Map<String, NodeError> first(Map<String, NodeError> failures) {
    String name = failures.keySet().iterator().next();
    return Map.of(name, failures.getOrDefault(name, new NodeError(Kind.PASSING, "")));
  }

  /** Finds the lock free, and overwrites whatever has come since. */
  private static final class LooksFirst extends SmallRedlock {
    LooksFirst(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
      return ask(Request.look(attempt.name()), Votes::isComplete)
          .thenCompose(
              seen ->
                  members()
                      .ask(
                          new Poll(
                              seen.saying(Answer.MISSING),
                              set(attempt, token),
                              timeouts(),
                              Votes::isComplete,
                              node -> false))
                      .thenApply(set -> together(seen, set)));
    }

    @Override
    Request set(Attempt attempt, String token) {
      return Request.of(
          Verb.SET,
          attempt.name(),
          token,
          keys -> {
            keys.put(attempt.name(), token, attempt.ttl());
            return Answer.MINE;
          });
    }

    private static Votes together(Votes seen, Votes set) {
      Votes votes = Votes.none(seen.nodes(), seen.nodes());
      for (Map.Entry<Member, Object> vote : seen.replies().entrySet()) {
        Object reply =
            vote.getValue() instanceof Seen lock
                ? lock.isOfOtherType() ? Answer.OTHER_TYPE : Answer.OTHER
                : set.replies().getOrDefault(vote.getKey(), vote.getValue());
        votes = votes.with(vote.getKey(), reply);
      }
      return votes;
    }
  }
}
