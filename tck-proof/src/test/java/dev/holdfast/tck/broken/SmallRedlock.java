package dev.holdfast.tck.broken;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Seen;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Redlock in a few lines, and right. Each step that can be got wrong is a method of its own. */
class SmallRedlock implements LockPrimitive {
  private final Members members;
  private final Clock clock;
  private final Timeouts timeouts;
  private final Map<String, CompletableFuture<Votes>> extending = new ConcurrentHashMap<>();

  SmallRedlock(Members members, Clock clock, Timeouts timeouts) {
    this.members = members;
    this.clock = clock;
    this.timeouts = timeouts;
  }

  final Members members() {
    return members;
  }

  final Timeouts timeouts() {
    return timeouts;
  }

  /**
   * A lock that was granted.
   *
   * @param granted the nodes that said yes
   * @param reached the nodes that may hold it, which an extension may make more
   */
  record Held(
      String name,
      String token,
      ClockReading validUntil,
      Collection<Member> granted,
      Set<Member> reached)
      implements Grant {
    @Override
    public OptionalLong fencingToken() {
      return OptionalLong.empty();
    }
  }

  @Override
  public Set<LockCapability> capabilities() {
    Set<LockCapability> all =
        EnumSet.of(
            LockCapability.EXTENSION,
            LockCapability.OWNER_SAFE_RELEASE,
            LockCapability.HOLD_AT_LEAST,
            LockCapability.INSPECTION,
            LockCapability.FORCE_RELEASE);
    if (members.all().size() > 2) {
      all.add(LockCapability.FAULT_TOLERANT);
    }
    return all;
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    if (ttl.compareTo(drift(ttl)) <= 0) {
      throw new LockConfigurationException(
          "the ttl "
              + ttl.toMillis()
              + " ms is not above the allowance for drift, "
              + drift(ttl).toMillis()
              + " ms: ask for more");
    }
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    return members.open().thenCompose(opened -> tryOnce(attempt));
  }

  private CompletableFuture<Outcome> tryOnce(Attempt attempt) {
    String token = token(attempt);
    ClockReading start = clock.now();
    return askForGrant(attempt, token)
        .thenCompose(
            votes -> {
              Held held =
                  new Held(
                      attempt.name(),
                      token,
                      validUntil(start, attempt.ttl()),
                      votes.saying(Answer.MINE),
                      ConcurrentHashMap.newKeySet());
              held.reached().addAll(votes.reached(members.all()));
              return isGranted(votes) && isValid(held.validUntil())
                  ? CompletableFuture.completedFuture(held)
                  : releaseAttempt(held, votes, left(start))
                      .thenApply(done -> refusal(held, votes));
            });
  }

  /** The value of the lock, which proves whose it is. */
  String token(Attempt attempt) {
    return attempt.ownerLabel() + ":" + UUID.randomUUID();
  }

  Request set(Attempt attempt, String token) {
    return Request.set(attempt.name(), token, attempt.ttl());
  }

  CompletableFuture<Votes> askForGrant(Attempt attempt, String token) {
    ClockReading start = clock.now();
    AtomicReference<Votes> seen =
        new AtomicReference<>(Votes.none(members.all().size(), members.all().size()));
    attempt
        .progress()
        .outage(() -> outageSoFar(attempt.name(), start, Objects.requireNonNull(seen.get())));
    return members.ask(
        new Poll(
            members.all(),
            set(attempt, token),
            timeouts.within(attempt.ttl()),
            votes -> {
              seen.set(votes);
              return isGranted(votes)
                  || (!votes.isQuorum(votes.mine() + votes.pending()) && isAnswered(votes));
            },
            node -> false));
  }

  /**
   * Returns whether waiters behind an attempt in flight report an outage, or null if there is none.
   */
  @Nullable LockException outageSoFar(String name, ClockReading start, Votes votes) {
    return isAnswered(votes) || clock.now().nanosSince(start) < timeouts.node().toNanos()
        ? null
        : outage("no quorum voted on '" + name + "'", votes, false);
  }

  boolean isGranted(Votes votes) {
    return votes.isQuorum(votes.mine());
  }

  boolean isValid(ClockReading until) {
    return clock.now().nanosUntil(until) > 0;
  }

  ClockReading validUntil(ClockReading start, Duration ttl) {
    return start.plusNanos(ttl.minus(drift(ttl)).toNanos());
  }

  Duration drift(Duration ttl) {
    return ttl.dividedBy(100).plusMillis(2);
  }

  boolean isAnswered(Votes votes) {
    return votes.isQuorum(votes.answered());
  }

  /**
   * Removes the keys that an attempt left. The replies of nodes that voted count, and no thread
   * waits for the others.
   */
  CompletableFuture<Votes> releaseAttempt(Held held, Votes votes, Timeouts limit) {
    return members.ask(
        new Poll(
            releaseAttemptFrom(held),
            taken(held),
            limit,
            seen -> seen.answered() >= votes.answered(),
            held.reached()::contains));
  }

  /** Returns the nodes on which a failed attempt is undone. */
  Collection<Member> releaseAttemptFrom(Held held) {
    return members.all();
  }

  Request taken(Held held) {
    return Request.release(held.name(), held.token(), Duration.ZERO, false);
  }

  private Timeouts left(ClockReading start) {
    long left = timeouts.quorum().toNanos() - clock.now().nanosSince(start);
    return timeouts.within(Duration.ofNanos(Math.max(0, left)));
  }

  Outcome refusal(Held held, Votes votes) {
    if (!isAnswered(votes)) {
      throw outage("no quorum voted on '" + held.name() + "'", votes, false);
    }
    if (isOtherTypeToBlame(votes)) {
      throw otherType(held.name(), votes);
    }
    if (isLate(votes)) {
      throw outage("'" + held.name() + "' was granted when its ttl was over", votes, false);
    }
    return new Refusal(
        new LockVotes(votes.mine(), votes.notMine(), votes.nodes() - votes.answered()));
  }

  /** Tells whether votes that were not a grant would have been one in time. */
  boolean isLate(Votes votes) {
    return isGranted(votes);
  }

  boolean isOtherTypeToBlame(Votes votes) {
    return !votes.isQuorum(votes.mine())
        && votes.isQuorum(votes.mine() + votes.count(Answer.OTHER_TYPE));
  }

  private static LockConfigurationException otherType(String name, Votes votes) {
    List<String> nodes = votes.saying(Answer.OTHER_TYPE).stream().map(Member::name).toList();
    return new LockConfigurationException(
        "the key '" + name + "' is no lock on " + nodes + ": use another name");
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    Held held = (Held) grant;
    ClockReading start = clock.now();
    CompletableFuture<Votes> asked = askToExtend(held, ttl);
    extending.put(held.token(), asked);
    return asked
        .whenComplete((votes, failure) -> extending.remove(held.token(), asked))
        .thenApply(
            votes -> {
              held.reached().addAll(votes.reached(members.all()));
              return extension(held, start, ttl, votes);
            });
  }

  final CompletableFuture<Votes> askToExtend(Held held, Duration ttl) {
    return ask(extension(held, ttl), votes -> isExtended(votes) || votes.isQuorum(votes.notMine()));
  }

  Request extension(Held held, Duration ttl) {
    return Request.extend(held.name(), held.token(), ttl);
  }

  boolean isExtended(Votes votes) {
    return votes.isQuorum(votes.mine());
  }

  Extension extension(Held held, ClockReading start, Duration ttl, Votes votes) {
    if (isExtended(votes)) {
      return new Extended(validUntil(start, ttl));
    }
    if (votes.isQuorum(votes.notMine())) {
      return lost(held, votes);
    }
    return noQuorum(held, votes);
  }

  Extension lost(Held held, Votes votes) {
    return new Lost(lossOf(votes));
  }

  Extension noQuorum(Held held, Votes votes) {
    throw outage("no quorum extended '" + held.name() + "'", votes, true);
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    Held held = (Held) release.grant();
    abandonExtension(held);
    return members
        .ask(
            new Poll(
                releaseFrom(held),
                release(held, release.keep(), release.mayLengthen()),
                timeouts,
                votes ->
                    votes.isQuorum(votes.notMine())
                        || (isAnswered(votes)
                            && !votes.isQuorum(votes.notMine() + votes.pending())),
                held.reached()::contains))
        .thenApply(votes -> new Released(released(held, votes), Released.UNKNOWN));
  }

  /** Ends an extension that is in flight: nothing more of it may be sent behind the release. */
  void abandonExtension(Held held) {
    CompletableFuture<Votes> asked = extending.remove(held.token());
    if (asked != null) {
      asked.cancel(false);
    }
  }

  Optional<LossReason> released(Held held, Votes votes) {
    if (votes.isQuorum(votes.notMine())) {
      return Optional.of(lossOf(votes));
    }
    if (!isAnswered(votes)) {
      throw outage("no quorum answered the release of '" + held.name() + "'", votes, true);
    }
    return Optional.empty();
  }

  /** Returns the nodes that a release goes to. Where it is not heard it is sent once more. */
  Collection<Member> releaseFrom(Held held) {
    return members.all();
  }

  Request release(Held held, Duration keep, boolean mayLengthen) {
    return Request.release(held.name(), held.token(), keep, mayLengthen);
  }

  LossReason lossOf(Votes votes) {
    return votes.count(Answer.OTHER) + votes.count(Answer.OTHER_TYPE) > 0
        ? LossReason.TAKEN
        : LossReason.REMOVED;
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    return askAll(Request.look(name)).thenApply(votes -> status(name, votes));
  }

  Optional<LockStatus> status(String name, Votes votes) {
    if (!isAnswered(votes)) {
      throw outage("no quorum reported the holder of '" + name + "'", votes, false);
    }
    List<Seen> seen =
        votes.replies().values().stream()
            .filter(Seen.class::isInstance)
            .map(Seen.class::cast)
            .sorted(Comparator.comparing(Seen::left).reversed())
            .toList();
    return seen.stream()
        .map(Seen::token)
        .max(Comparator.comparingInt(token -> agreeing(seen, token).size()))
        .map(
            token -> {
              List<Seen> agreeing = agreeing(seen, token);
              return new LockStatus(
                  name,
                  label(token),
                  agreeing.get(Math.min(votes.quorum(), agreeing.size()) - 1).left(),
                  new LockVotes(agreeing.size(), votes.nodes() - agreeing.size(), 0));
            });
  }

  /** Returns the part of a token that people see. */
  String label(String token) {
    return token.contains(":") ? token.substring(0, token.lastIndexOf(':')) : token;
  }

  private static List<Seen> agreeing(List<Seen> seen, String token) {
    return seen.stream().filter(one -> one.token().equals(token)).toList();
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return askAll(Request.remove(name)).thenApply(votes -> removed(name, votes));
  }

  boolean removed(String name, Votes votes) {
    if (!isAnswered(votes)) {
      throw outage("no quorum removed '" + name + "'", votes, false);
    }
    return votes.mine() > 0;
  }

  final CompletableFuture<Votes> ask(Request request, Predicate<Votes> enough) {
    return members.ask(new Poll(members.all(), request, timeouts, enough, node -> false));
  }

  private CompletableFuture<Votes> askAll(Request request) {
    return members.open().thenCompose(opened -> ask(request, votes -> false));
  }

  /** An outage, or a mistake if correcting the mistakes would make a quorum. */
  LockException outage(String message, Votes votes, boolean outcomeUnknown) {
    LockOutageException outage = new LockOutageException(message, votes.failures(), outcomeUnknown);
    return isAnswered(votes) || !votes.isQuorum(votes.answered() + votes.failed(Kind.MENDABLE))
        ? outage
        : new LockConfigurationException(String.valueOf(outage.getMessage()), outage.getCause());
  }

  @Override
  public void close() {
    members.close();
  }
}
