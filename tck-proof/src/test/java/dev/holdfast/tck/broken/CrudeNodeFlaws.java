package dev.holdfast.tck.broken;

import dev.holdfast.LockOutageException;
import dev.holdfast.LockVotes;
import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Verb;
import dev.holdfast.tck.broken.Way.Examined;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** Mistakes that many tests show, in the requests to nodes. See {@link CrudeFlaws}. */
final class CrudeNodeFlaws {
  private static final Duration HASTE = Duration.ofMillis(2);
  private static final long LONG_SILENCE_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long HALF_A_SECOND_NANOS = Duration.ofMillis(500).toNanos();
  private static final Duration PAUSE = Duration.ofMillis(900);

  private CrudeNodeFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
                "a node that takes more than two milliseconds spoils the attempt",
                Set.of("FAULT-1"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      boolean isGranted(Votes votes) {
                        return votes.mine() == votes.nodes();
                      }

                      @Override
                      CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
                        Poll poll =
                            new Poll(
                                members.all(),
                                set(attempt, token),
                                Timeouts.both(HASTE),
                                Votes::isComplete,
                                node -> false);
                        return members.ask(poll);
                      }
                    })
            .breaksMore(),
        Flaw.inMembers(
                "calls wait for a node that has been silent for long",
                Set.of("FAULT-2"),
                WaitsForTheSilent::new)
            .breaksMore(),
        Flaw.inMembers(
                "attempts fail for half a second when a connection has ended",
                Set.of("FAULT-5"),
                FailsAfterAnEnd::new)
            .breaksMore(),
        Flaw.of(
                "a connection ends with a script that its node does not know, and attempts fail",
                Set.of("FAULT-5"),
                Parts.RIGHT.withConnections(CutByUnknown::new).withRounds(FailsAfterAnEnd::new))
            .breaksMore(),
        Flaw.inMember(
                "a node that is silent five times is given up", Set.of("FAULT-3"), GivesUp::new)
            .breaksMore(),
        Flaw.inMember(
                "a lock that was asked for while a node was away is taken later",
                Set.of("FAULT-4"),
                SendsLater::new)
            .breaksMore(),
        Flaw.inRedlock(
                "only a quorum of nodes is asked",
                Set.of("INT-1"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
                        List<Member> some = members.all().subList(0, members.all().size() / 2 + 1);
                        return members.ask(
                            new Poll(
                                some,
                                set(attempt, token),
                                timeouts,
                                Votes::isComplete,
                                node -> false));
                      }
                    })
            .breaksMore(),
        Flaw.inRedlock(
                "a refused attempt lengthens the lock of a foreign client",
                Set.of("INT-1"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      Request set(Attempt attempt, String token) {
                        Request right = super.set(attempt, token);
                        String name = attempt.name();
                        return Request.of(
                            Verb.SET,
                            name,
                            token,
                            keys -> {
                              if (keys.token(name).filter(t -> !t.contains(":")).isPresent()) {
                                keys.expire(name, attempt.ttl());
                              }
                              return right.work().apply(keys);
                            });
                      }
                    })
            .breaksMore(),
        Flaw.inRedlock(
                "a lost lease is renewed, and its keys with it", Set.of("KEEP-3"), RenewsOn::new)
            .breaksMore(),
        Flaw.inRedlock(
                "a name that met an outage is taken for ever", Set.of("WAIT-5"), TakenForEver::new)
            .breaksMore(),
        Flaw.inRedlock(
                "the first request of a lazy manager does not wait for connections",
                Set.of("OPEN-4"),
                NeedsConnections::new)
            .breaksMore(),
        Flaw.of(
                "one server may be listed twice, and a token may be set twice",
                Set.of("OPEN-2"),
                Parts.RIGHT
                    .withConnections(
                        (uri, way, network) ->
                            new Member(uri, way, network) {
                              @Override
                              void open(Function<Examined, String> examiner, Runnable settled) {
                                super.open(
                                    found ->
                                        examiner.apply(
                                            new Examined(
                                                found.identity() + name(),
                                                found.isReplica(),
                                                found.evicts())),
                                    settled);
                              }
                            })
                    .withPrimitives(SetsTwice::new))
            .breaksMore(),
        Flaw.inRedlock(
                "a release goes to a node when the one before it has answered",
                Set.of("REL-2"),
                ReleasesInARow::new)
            .breaksMore());
  }

  private static final class WaitsForTheSilent extends Members {
    private final Scheduler timers;
    private final Map<Member, Long> silentSince = new ConcurrentHashMap<>();

    WaitsForTheSilent(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
      this.timers = network;
    }

    @Override
    CompletableFuture<Votes> ask(Poll poll) {
      CompletableFuture<Votes> asked = super.ask(poll);
      CompletableFuture<Votes> late = new CompletableFuture<>();
      asked.whenComplete(
          (votes, failure) -> {
            boolean waits = votes != null && isAnySilentForLong(votes);
            timers.schedule(
                waits ? PAUSE.toNanos() : 0,
                () -> {
                  if (failure == null) {
                    late.complete(votes);
                  } else {
                    late.completeExceptionally(failure);
                  }
                });
          });
      return late;
    }

    private boolean isAnySilentForLong(Votes votes) {
      long now = System.nanoTime();
      boolean any = false;
      for (Member member : all()) {
        if (votes.replies().get(member) instanceof NodeError
            || !votes.replies().containsKey(member)) {
          any |= now - silentSince.computeIfAbsent(member, m -> now) > LONG_SILENCE_NANOS;
        } else {
          silentSince.remove(member);
        }
      }
      return any;
    }
  }

  private static final class FailsAfterAnEnd extends Members {
    private volatile boolean isOpen;
    private volatile long failsUntil = System.nanoTime();

    FailsAfterAnEnd(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
    }

    @Override
    CompletableFuture<Votes> ask(Poll poll) {
      boolean allUp = all().stream().allMatch(Member::isUp);
      isOpen |= allUp;
      if (isOpen && !allUp) {
        failsUntil = System.nanoTime() + HALF_A_SECOND_NANOS;
      }
      return System.nanoTime() - failsUntil < 0
          ? CompletableFuture.failedFuture(
              new LockOutageException("a connection ended", Map.of(), false))
          : super.ask(poll);
    }
  }

  private static final class CutByUnknown extends Member {
    CutByUnknown(String uri, Way way, Scheduler network) {
      super(uri, way, network);
    }

    @Override
    void toUnknown(Request request, Consumer<Object> answer) {
      cut();
      answer.accept(new NodeError(Kind.PASSING, "it did not know the script"));
    }
  }

  private static final class GivesUp extends Member {
    private int silent;
    private boolean isGivenUp;

    GivesUp(String uri, Way way, Scheduler network) {
      super(uri, way, network);
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      isGivenUp |= silent > 5;
      if (isGivenUp) {
        answer.accept(new NodeError(Kind.UNSENT, "it was given up"));
        return;
      }
      silent++;
      super.ask(
          request,
          wanted,
          reply -> {
            silent = 0;
            answer.accept(reply);
          });
    }
  }

  private static final class SendsLater extends Member {
    SendsLater(String uri, Way way, Scheduler network) {
      super(uri, way, network);
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      if (!isUp() && request.verb() == Verb.SET) {
        defer(request);
      }
      super.ask(request, wanted, answer);
    }
  }

  private static final class RenewsOn extends SmallRedlock {
    RenewsOn(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    Extension lost(Held held, Votes votes) {
      renew(held, 40);
      return super.lost(held, votes);
    }

    private void renew(Held held, int times) {
      if (times > 0) {
        ask(extension(held, Duration.ofSeconds(30)), Votes::isComplete)
            .thenRunAsync(
                () -> renew(held, times - 1),
                CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
      }
    }
  }

  private static final class TakenForEver extends SmallRedlock {
    private final Set<String> taken = ConcurrentHashMap.newKeySet();

    TakenForEver(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
      return members()
          .ask(
              new Poll(
                  members().all(),
                  set(attempt, token),
                  Timeouts.both(HASTE),
                  Votes::isComplete,
                  node -> false));
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      if (taken.contains(attempt.name())) {
        return CompletableFuture.completedFuture(new Refusal(new LockVotes(0, 3, 0)));
      }
      return super.attempt(attempt)
          .whenComplete(
              (outcome, failure) -> {
                if (failure != null) {
                  taken.add(attempt.name());
                }
              });
    }
  }

  private static final class NeedsConnections extends SmallRedlock {
    private final AtomicBoolean isFirst = new AtomicBoolean(true);

    NeedsConnections(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Outcome> attempt(Attempt attempt) {
      boolean isConnected = members().all().stream().anyMatch(Member::isUp);
      members().open();
      return isFirst.getAndSet(false) && !isConnected
          ? CompletableFuture.failedFuture(
              new LockOutageException("no node is connected", Map.of(), false))
          : super.attempt(attempt);
    }
  }

  private static final class SetsTwice extends SmallRedlock {
    SetsTwice(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    Request set(Attempt attempt, String token) {
      Request right = super.set(attempt, token);
      return Request.of(
          Verb.SET,
          attempt.name(),
          token,
          keys -> keys.holds(attempt.name(), token) ? Answer.MINE : right.work().apply(keys));
    }
  }

  private static final class ReleasesInARow extends SmallRedlock {
    ReleasesInARow(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Released> release(Release release) {
      Held held = (Held) release.grant();
      Member first = members().all().get(0);
      Poll toFirst =
          new Poll(
              List.of(first),
              release(held, release.keep(), release.mayLengthen()),
              timeouts(),
              Votes::isComplete,
              node -> false);
      return members()
          .ask(toFirst)
          .thenCompose(
              votes -> {
                if (votes.answered() == 0) {
                  throw outage("the first node did not answer", votes, true);
                }
                return super.release(release);
              });
    }
  }
}
