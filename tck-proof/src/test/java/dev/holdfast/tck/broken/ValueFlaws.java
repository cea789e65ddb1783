package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.tck.broken.Request.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.UnaryOperator;

/** Durations that are rounded or overflow, and tokens of which not all is compared. */
final class ValueFlaws {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private ValueFlaws() {}

  static List<Flaw> all() {
    List<Flaw> all = new ArrayList<>();
    all.addAll(ofTtls());
    all.addAll(ofManagers());
    all.addAll(ofWaits());
    all.addAll(ofTokens());
    all.addAll(ofOthersValues());
    return all;
  }

  private static List<Flaw> ofOthersValues() {
    return List.of(
        Flaw.inNode(
                "a lock that holds an empty value is free",
                Set.of("ACQ-4"),
                () ->
                    new FakeKeys() {
                      @Override
                      void put(String name, String token, Duration ttl) {
                        if (!token.isEmpty()) {
                          super.put(name, token, ttl);
                        }
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a lock without the label of an owner is not shown",
                Set.of("INSP-1"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Optional<LockStatus> inspect(String name) {
                        return right.inspect(name).filter(status -> !isNumber(status.ownerLabel()));
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a lock without the label of an owner is not forced free",
                Set.of("INSP-2"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean forceRelease(String name) {
                        return right
                                .inspect(name)
                                .filter(status -> isNumber(status.ownerLabel()))
                                .isEmpty()
                            && right.forceRelease(name);
                      }
                    })
            .asVariation(),
        Flaw.of(
                "an adopted lock shows the label of its former holder",
                Set.of("TRANSFER-6"),
                Parts.TRANSFERRING.withManagers(
                    right ->
                        new PassingManager(right.get()) {
                          @Override
                          public CompletableFuture<Lease> adoptAsync(
                              String text, LockRequest request) {
                            return super.adoptAsync(text, request.ownerLabel("former"));
                          }
                        }))
            .asVariation(),
        Flaw.inManager(
                "a ping is answered at once or not at all",
                Set.of("FAULT-8"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public boolean ping(Duration timeout) {
                        Duration limit = Duration.ofMillis(20);
                        return right.ping(timeout.compareTo(limit) < 0 ? timeout : limit);
                      }
                    })
            .asVariation());
  }

  /** Returns whether a label is empty, or of digits. */
  private static boolean isNumber(String label) {
    return label.chars().allMatch(Character::isDigit);
  }

  private static List<Flaw> ofTtls() {
    return List.of(
        inKey("a node is asked for whole seconds, rounded down", ValueFlaws::down),
        inKey("a node is asked for whole seconds, rounded up", ValueFlaws::up).asVariation(),
        inKey("a node is asked for the nearest second", ValueFlaws::nearest).asVariation(),
        inKey("a node is asked for no more than a minute", ttl -> capped(ttl, 60)).asVariation(),
        inKey("a node is asked for no more than a day", ttl -> capped(ttl, 86_400)).asVariation(),
        inKey("a node's ttl is an int of milliseconds", ValueFlaws::inInt).asVariation(),
        inValidity("a validity is of whole seconds, rounded up", ValueFlaws::up).asVariation(),
        inValidity("a validity is of whole seconds, rounded down", ValueFlaws::down).asVariation(),
        inExtension("an extension is by whole seconds, rounded down", ValueFlaws::down)
            .asVariation(),
        inExtension("an extension is by whole seconds, rounded up", ValueFlaws::up).asVariation(),
        inExtension("an extension is by an hour at most", ttl -> capped(ttl, 3_600)).asVariation(),
        inHoldAtLeast("a lock is kept after its release for whole seconds", ValueFlaws::down)
            .asVariation(),
        inHoldAtLeast("a lock is kept after its release for a second more", ValueFlaws::up)
            .asVariation(),
        Flaw.inNode(
                "nodes give a lock of more than a second away in its last one",
                Set.of("VAL-7"),
                () ->
                    new FakeKeys() {
                      @Override
                      boolean isOver(Duration left, Duration ttl) {
                        return left.isZero()
                            || (ttl.toNanos() % SECOND.toNanos() != 0
                                && ttl.compareTo(SECOND) > 0
                                && left.compareTo(Duration.ofMillis(300)) < 0);
                      }
                    })
            .asVariation());
  }

  private static List<Flaw> ofManagers() {
    return List.of(
        inRequest(
            "keepAliveUpTo is counted in whole seconds, rounded down",
            Set.of("VAL-7"),
            asked ->
                asked
                    .keepAliveUpTo()
                    .map(hold -> asked.keepAliveUpTo(later(asked.ttl(), down(hold))))
                    .orElse(asked)),
        inRequest(
            "keepAliveUpTo is counted in whole seconds, rounded up",
            Set.of("VAL-7"),
            asked ->
                asked.keepAliveUpTo().map(hold -> asked.keepAliveUpTo(up(hold))).orElse(asked)),
        inRequest(
            "a keepAliveUpTo of years is none",
            Set.of("VAL-7"),
            asked ->
                asked
                    .keepAliveUpTo()
                    .filter(hold -> hold.toDays() > 365)
                    .map(hold -> asked.keepAliveUpTo(asked.ttl()))
                    .orElse(asked)),
        Flaw.inManager(
                "a future's ttl is of whole seconds",
                Set.of("VAL-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public CompletableFuture<Optional<Lease>> tryAcquireAsync(
                          LockRequest request) {
                        return super.tryAcquireAsync(withTtl(request, down(request.ttl())));
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "the ttl of acquire is of whole seconds, rounded up",
                Set.of("VAL-7"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public Lease acquire(LockRequest request) throws InterruptedException {
                        return super.acquire(withTtl(request, up(request.ttl())));
                      }
                    })
            .asVariation(),
        Flaw.inLease(
                "extendAsync is by whole seconds",
                Set.of("VAL-7"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public CompletableFuture<Void> extendAsync(Duration ttl) {
                        return super.extendAsync(down(ttl));
                      }
                    })
            .asVariation(),
        inGrace("a grace of years is none", grace -> grace.toDays() > 365 ? Duration.ZERO : grace),
        inGrace("a grace is of whole seconds", ValueFlaws::down));
  }

  private static List<Flaw> ofWaits() {
    return List.of(
        inWait("a wait is of whole seconds, rounded down", ValueFlaws::down),
        inWait("a wait is of whole seconds, rounded up", ValueFlaws::up).asVariation(),
        inWait("a wait is of the nearest second", ValueFlaws::nearest).asVariation(),
        inWait("a wait is an int of milliseconds", ValueFlaws::inInt).asVariation(),
        inWait(
                "a wait that no long of nanoseconds holds is none",
                wait -> wait.toSeconds() > Long.MAX_VALUE / 1_000_000_000L ? Duration.ZERO : wait)
            .asVariation(),
        Flaw.inManager(
                "a future's wait is of whole seconds",
                Set.of("WAIT-16"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public CompletableFuture<Optional<Lease>> tryAcquireAsync(
                          LockRequest request) {
                        return super.tryAcquireAsync(withWait(request, ValueFlaws::down));
                      }
                    })
            .asVariation());
  }

  private static List<Flaw> ofTokens() {
    List<Flaw> all = new ArrayList<>();
    compares(all, "the beginning of a token is enough", String::startsWith);
    compares(all, "a token is enough that begins ours", (found, ours) -> ours.startsWith(found));
    compares(all, "the end of a token is enough", String::endsWith);
    compares(all, "it is enough that a token holds ours", String::contains);
    compares(all, "tokens are compared in any case", String::equalsIgnoreCase);
    compares(all, "the length of a token is enough", (a, b) -> a.length() == b.length());
    compares(all, "the label of a token is enough", (a, b) -> labelOf(a).equals(labelOf(b)));
    compares(all, "the hash code of a token is enough", (a, b) -> a.hashCode() == b.hashCode());
    compares(all, "tokens are trimmed", (found, ours) -> found.trim().equals(ours.trim()));
    all.add(
        Flaw.inRedlock(
                "inspect counts the nodes with the same label",
                Set.of("INSP-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Optional<LockStatus> status(String name, Votes votes) {
                        return super.status(name, votes)
                            .map(
                                s ->
                                    new LockStatus(
                                        name,
                                        s.ownerLabel(),
                                        s.remaining(),
                                        votesFor(this::label, s, votes)));
                      }
                    })
            .asVariation());
    return all;
  }

  /** One mistake in releases, and the same in extensions. */
  private static void compares(List<Flaw> all, String mistake, BiPredicate<String, String> isSame) {
    all.add(
        Flaw.inRedlock(
                mistake + " for a release",
                Set.of("REL-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        return loosely(
                            super.release(held, keep, mayLengthen), held.token(), isSame);
                      }
                    })
            .asVariation());
    all.add(
        Flaw.inRedlock(
                mistake + " for an extension",
                Set.of("EXT-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      Request extension(Held held, Duration ttl) {
                        return loosely(super.extension(held, ttl), held.token(), isSame);
                      }
                    })
            .asVariation());
  }

  /** Takes what is found for ours before the node does the right thing. */
  private static Request loosely(Request right, String ours, BiPredicate<String, String> isSame) {
    return new Request(
        right.verb(),
        right.withSource(),
        right.name(),
        right.text(),
        keys -> {
          Optional<String> found = keys.token(right.name());
          if (found.isEmpty() || !isSame.test(found.get(), ours)) {
            return right.work().apply(keys);
          }
          keys.put(right.name(), ours, keys.left(right.name()));
          Object answer = right.work().apply(keys);
          return answer == Answer.MISSING ? Answer.MINE : answer;
        });
  }

  private static String labelOf(String token) {
    return token.substring(0, Math.max(0, token.lastIndexOf(':'))).toLowerCase(Locale.ROOT);
  }

  private static Flaw inKey(String mistake, UnaryOperator<Duration> ttl) {
    return Flaw.inRedlock(
        mistake,
        Set.of("VAL-7"),
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              @Override
              Request set(Attempt attempt, String token) {
                return Request.set(attempt.name(), token, ttl.apply(attempt.ttl()));
              }
            });
  }

  private static Flaw inValidity(String mistake, UnaryOperator<Duration> ttl) {
    return Flaw.inRedlock(
        mistake,
        Set.of("VAL-7"),
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              @Override
              ClockReading validUntil(ClockReading start, Duration asked) {
                return super.validUntil(start, ttl.apply(asked));
              }
            });
  }

  private static Flaw inExtension(String mistake, UnaryOperator<Duration> ttl) {
    return Flaw.inRedlock(
        mistake,
        Set.of("VAL-7"),
        (members, clock, timeout) ->
            new SmallRedlock(members, clock, timeout) {
              @Override
              Request extension(Held held, Duration asked) {
                // the rest of a longest hold is no number of a user's
                boolean isAskedFor = asked.toNanos() % 1_000_000 == 0;
                return super.extension(held, isAskedFor ? ttl.apply(asked) : asked);
              }
            });
  }

  private static Flaw inHoldAtLeast(String mistake, UnaryOperator<Duration> rounding) {
    return Flaw.inRedlock(
        mistake,
        Set.of("VAL-7"),
        (members, clock, timeout) -> new RoundedHold(members, clock, timeout, rounding));
  }

  /** Rounds what was asked for, which is known except for the time that has passed. */
  private static final class RoundedHold extends SmallRedlock {
    private final UnaryOperator<Duration> rounding;

    RoundedHold(Members members, Clock clock, Timeouts timeouts, UnaryOperator<Duration> rounding) {
      super(members, clock, timeouts);
      this.rounding = rounding;
    }

    @Override
    Request release(Held held, Duration keep, boolean mayLengthen) {
      boolean isRound = keep.plusMillis(150).toNanosPart() < 150_000_000;
      return super.release(held, isRound ? keep : rounding.apply(keep), mayLengthen);
    }
  }

  private static Flaw inWait(String mistake, UnaryOperator<Duration> wait) {
    return inRequest(mistake, Set.of("WAIT-16"), asked -> withWait(asked, wait));
  }

  private static Flaw inGrace(String mistake, UnaryOperator<Duration> rounding) {
    return Flaw.inManager(
            mistake,
            Set.of("CLOSE-3"),
            right ->
                new PassingManager(right) {
                  @Override
                  public void close(Duration grace) {
                    super.close(rounding.apply(grace));
                  }
                })
        .asVariation();
  }

  private static Flaw inRequest(
      String mistake, Set<String> rules, UnaryOperator<LockRequest> changed) {
    return Flaw.inManager(
        mistake,
        rules,
        (LockManager right) ->
            new PassingManager(right) {
              @Override
              LockRequest request(LockRequest asked) {
                return changed.apply(asked);
              }
            });
  }

  private static LockRequest withWait(LockRequest asked, UnaryOperator<Duration> wait) {
    return asked.waitAtMost().map(asking -> asked.waitAtMost(wait.apply(asking))).orElse(asked);
  }

  private static LockRequest withTtl(LockRequest asked, Duration ttl) {
    if (ttl.equals(asked.ttl())
        || asked.keepAliveUpTo().isPresent()
        || !asked.holdAtLeast().isZero()) {
      return asked;
    }
    LockRequest changed = LockRequest.of(asked.name(), ttl);
    LockRequest owned = asked.ownerLabel().map(changed::ownerLabel).orElse(changed);
    return asked.waitAtMost().map(owned::waitAtMost).orElse(owned);
  }

  private static Duration later(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /** Below a second nothing is rounded, for else there would be nothing left. */
  private static Duration down(Duration time) {
    return time.compareTo(SECOND) < 0 ? time : Duration.ofSeconds(time.toSeconds());
  }

  private static Duration up(Duration time) {
    return time.compareTo(SECOND) < 0 || time.toNanosPart() == 0 || time.toDays() > 365
        ? time
        : Duration.ofSeconds(time.toSeconds() + 1);
  }

  private static Duration nearest(Duration time) {
    return time.toNanosPart() < 500_000_000 ? down(time) : up(time);
  }

  private static Duration capped(Duration time, long seconds) {
    return time.toSeconds() < seconds ? time : Duration.ofSeconds(seconds);
  }

  /** Returns the time, or the shortest one if milliseconds do not fit into an int. */
  private static Duration inInt(Duration time) {
    return time.toSeconds() < Integer.MAX_VALUE / 1_000 ? time : Duration.ofMillis(1);
  }

  private static LockVotes votesFor(UnaryOperator<String> label, LockStatus status, Votes votes) {
    long granted =
        votes.replies().values().stream()
            .filter(
                reply ->
                    reply instanceof Request.Seen seen
                        && label.apply(seen.token()).equals(status.ownerLabel()))
            .count();
    return new LockVotes((int) granted, status.votes().nodes() - (int) granted, 0);
  }
}
