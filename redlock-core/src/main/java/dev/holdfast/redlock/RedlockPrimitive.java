package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Moment;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.OwedReleases.Owed;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The Redlock algorithm: acquire, extend and release are rounds whose votes are counted. */
final class RedlockPrimitive implements LockPrimitive {
  private static final String OWN_KEYS = "holdfast:";

  private final RedlockOptions options;
  private final Clock clock;
  private final Scheduler scheduler;
  private final Runnable afterClose;
  private final Members members;
  private final RedisNodes nodes;
  private final Tokens tokens;
  private final OwedReleases owed;

  RedlockPrimitive(
      RedisNodes nodes, RedlockOptions options, Scheduler scheduler, Runnable afterClose) {
    this.options = options;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.afterClose = afterClose;
    this.nodes = nodes;
    this.tokens = new Tokens(options.random());
    this.owed = new OwedReleases(clock, nodes.addresses().size());
    this.members = new Members(nodes, options, clock, scheduler, this::owedTo);
  }

  Members members() {
    return members;
  }

  @Override
  public Set<LockCapability> capabilities() {
    EnumSet<LockCapability> declared =
        EnumSet.of(
            LockCapability.EXTENSION,
            LockCapability.OWNER_SAFE_RELEASE,
            LockCapability.HOLD_AT_LEAST,
            LockCapability.INSPECTION,
            LockCapability.FORCE_RELEASE);
    if (members.size() >= 3) {
      declared.add(LockCapability.FAULT_TOLERANT);
    }
    return declared;
  }

  @Override
  public void requireName(String name) {
    if (keyOf(name).startsWith(OWN_KEYS)) {
      throw new LockConfigurationException(
          "the key '"
              + keyOf(name)
              + "' begins with "
              + OWN_KEYS
              + ", as our own keys do: use another name or keyPrefix");
    }
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    Duration lost = options.driftOf(ttl).plus(options.nodeTimeout());
    if (ttl.compareTo(lost) <= 0) {
      throw new LockConfigurationException(
          "the ttl "
              + ttl.toMillis()
              + " ms is not above nodeTimeout and the allowance for drift, "
              + lost.toMillis()
              + " ms together: ask for more");
    }
  }

  @Override
  public CompletionStage<Outcome> attempt(Attempt attempt) {
    CompletableFuture<Void> opened = members.open();
    return opened.isDone()
        ? tryOnce(attempt)
        : opened.thenCompose(
            now -> tryOnce(new Attempt(attempt.name(), attempt.owner(), attempt.ttl(), false)));
  }

  private CompletionStage<Outcome> tryOnce(Attempt attempt) {
    String key = keyOf(attempt.name());
    String token = tokens.next(attempt.owner());
    Moment start = clock.now();
    Ballot ballot =
        ballot(
            new Command.SetIfAbsent(key, token, millis(attempt.ttl())),
            RedlockPrimitive::acquired,
            Tally::isGrantDecided,
            attempt.callerWaits());
    long sent = ballot.start(scheduler, options.nodeTimeout().toNanos());
    return ballot
        .decision()
        .thenCompose(
            votes -> {
              Moment validUntil = validUntil(start, attempt.ttl());
              if (votes.isGranted() && clock.now().nanosUntil(validUntil) > 0) {
                return CompletableFuture.completedFuture(
                    new RedlockGrant(attempt.name(), key, token, validUntil, sent));
              }
              return notAcquired(attempt, key, token, start, sent, ballot, votes);
            });
  }

  /**
   * Takes back what was granted, on every node that was asked. Those that voted are heard again
   * before the result is told, within the attempt's deadline; nobody waits for the others.
   */
  private CompletionStage<Outcome> notAcquired(
      Attempt attempt,
      String key,
      String token,
      Moment start,
      long sent,
      Ballot ballot,
      Tally votes) {
    long heard = votes.mine() | votes.other();
    long left = options.nodeTimeout().toNanos() - (clock.nanos() - start.nanos());
    Ballot cleanup =
        releaseBallot(
            key, token, 0, sent, tally -> (heard & tally.pending()) == 0, attempt.callerWaits());
    cleanup.start(scheduler, Math.max(0, left));
    return cleanup
        .decision()
        .thenApply(
            seen -> {
              if (!votes.hasQuorumOfAnswers()) {
                throw noQuorum("no quorum voted on '" + attempt.name() + "'", ballot, votes, false);
              }
              long foreign = votes.other() & seen.wrongType();
              if (votes.granted() < votes.quorum()
                  && votes.granted() + Long.bitCount(foreign) >= votes.quorum()) {
                throw foreign(key, foreign);
              }
              return new Refusal(votes.granted(), votes.refused(), votes.unanswered());
            });
  }

  @Override
  public CompletionStage<Extension> extend(Grant grant, Duration ttl, boolean callerWaits) {
    RedlockGrant ours = (RedlockGrant) grant;
    Moment start = clock.now();
    Ballot ballot =
        ballot(
            new Command.Eval(
                Scripts.EXTEND,
                false,
                List.of(ours.key()),
                List.of(ours.token(), Long.toString(millis(ttl)))),
            RedlockPrimitive::compared,
            Tally::isExtensionDecided,
            callerWaits);
    ours.sentTo(ballot.start(scheduler, options.nodeTimeout().toNanos()));
    return ballot
        .decision()
        .thenApply(
            votes -> {
              if (votes.isGranted()) {
                return new Extended(validUntil(start, ttl));
              }
              if (votes.isDenied()) {
                return new Lost(lossOf(votes));
              }
              throw noQuorum(
                  "no quorum extended the lease on '" + ours.name() + "'", ballot, votes, true);
            });
  }

  @Override
  public CompletionStage<Optional<LossReason>> release(
      Grant grant, Duration keep, boolean callerWaits) {
    RedlockGrant ours = (RedlockGrant) grant;
    Ballot ballot =
        releaseBallot(
            ours.key(),
            ours.token(),
            keep.isZero() ? 0 : millis(keep),
            ours.sent(),
            Tally::isReleaseDecided,
            callerWaits);
    ballot.start(scheduler, options.nodeTimeout().toNanos());
    return ballot
        .decision()
        .thenApply(
            votes -> {
              if (votes.isDenied()) {
                return Optional.of(lossOf(votes));
              }
              if (votes.hasQuorumOfAnswers()) {
                return Optional.empty();
              }
              throw noQuorum(
                  "no quorum answered the release of '" + ours.name() + "'", ballot, votes, true);
            });
  }

  @Override
  public CompletionStage<Optional<LockStatus>> inspect(String name) {
    return members
        .open()
        .thenCompose(
            now -> {
              Inspection inspection = new Inspection(members.size());
              Ballot ballot =
                  ballot(
                      new Command.Eval(Scripts.INSPECT, false, List.of(keyOf(name)), List.of()),
                      inspection::read,
                      Tally::isComplete,
                      false);
              ballot.start(scheduler, options.nodeTimeout().toNanos());
              return ballot
                  .decision()
                  .thenApply(
                      votes -> {
                        requireAnswers("no quorum told who holds '" + name + "'", ballot, votes);
                        return inspection.status(name);
                      });
            });
  }

  @Override
  public CompletionStage<Boolean> forceRelease(String name) {
    return members
        .open()
        .thenCompose(
            now -> {
              Ballot ballot =
                  ballot(
                      new Command.Eval(Scripts.REMOVE, false, List.of(keyOf(name)), List.of()),
                      RedlockPrimitive::compared,
                      Tally::isComplete,
                      false);
              ballot.start(scheduler, options.nodeTimeout().toNanos());
              return ballot
                  .decision()
                  .thenApply(
                      votes -> {
                        requireAnswers("no quorum removed '" + name + "'", ballot, votes);
                        if (votes.mine() == 0 && votes.wrongType() != 0) {
                          throw foreign(keyOf(name), votes.wrongType());
                        }
                        return votes.mine() != 0;
                      });
            });
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return nodes.unwrap(type);
  }

  @Override
  public void close() {
    members.close();
    afterClose.run();
  }

  /** What a connection that broke may have kept from a node, now that it is back. */
  private List<Round> owedTo(int node) {
    return owed.take(node).stream().map(release -> again(node, release)).toList();
  }

  private Round again(int node, Owed release) {
    long keep = Math.max(0, release.keepUntil() - clock.nanos()) / 1_000_000;
    IntConsumer onceMore = failed -> owe(failed, release);
    Ballot.Question question =
        new Ballot.Question(
            releaseCommand(release.key(), release.token(), keep),
            RedlockPrimitive::compared,
            Tally::isComplete,
            true,
            onceMore);
    return new Ballot(members, question, 1L << node, false)
        .round(scheduler, options.nodeTimeout().toNanos());
  }

  private void owe(int node, Owed release) {
    owed.add(node, release);
    members.sendOwedSoon(node);
  }

  private Ballot releaseBallot(
      String key,
      String token,
      long keepMillis,
      long sent,
      Predicate<Tally> enough,
      boolean callerWaits) {
    long now = clock.nanos();
    Owed release =
        new Owed(key, token, now + keepMillis * 1_000_000, now + options.maxTtl().toNanos());
    IntConsumer owe =
        node -> {
          if ((sent & 1L << node) != 0) {
            owe(node, release);
          }
        };
    return new Ballot(
        members,
        new Ballot.Question(
            releaseCommand(key, token, keepMillis), RedlockPrimitive::compared, enough, true, owe),
        all(),
        callerWaits);
  }

  private static Command releaseCommand(String key, String token, long keepMillis) {
    return new Command.Eval(
        Scripts.RELEASE, false, List.of(key), List.of(token, Long.toString(keepMillis)));
  }

  private Ballot ballot(
      Command command,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
      Predicate<Tally> enough,
      boolean callerWaits) {
    return new Ballot(members, Ballot.Question.of(command, reader, enough), all(), callerWaits);
  }

  private static @Nullable Answer acquired(int node, @Nullable Object reply) {
    if (reply == null) {
      return Answer.OTHER;
    }
    return "OK".equals(reply) ? Answer.MINE : null;
  }

  private static @Nullable Answer compared(int node, @Nullable Object reply) {
    if (!(reply instanceof Long code)) {
      return null;
    }
    if (code == Scripts.MINE) {
      return Answer.MINE;
    }
    if (code == Scripts.OTHER) {
      return Answer.OTHER;
    }
    return code == Scripts.MISSING ? Answer.MISSING : null;
  }

  private LockConfigurationException foreign(String key, long nodes) {
    return new LockConfigurationException(
        "the key '"
            + key
            + "' holds no string, so no lock, on "
            + addresses(nodes)
            + ": use another name or keyPrefix, or remove the key");
  }

  private static LossReason lossOf(Tally votes) {
    return (votes.other() | votes.wrongType()) != 0 ? LossReason.TAKEN : LossReason.REMOVED;
  }

  private void requireAnswers(String message, Ballot ballot, Tally votes) {
    if (!votes.hasQuorumOfAnswers()) {
      throw noQuorum(message, ballot, votes, false);
    }
  }

  /** An outage; but if mending what is misconfigured would make a quorum, that is what it is. */
  private LockException noQuorum(
      String message, Ballot ballot, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> failures = new LinkedHashMap<>();
    NodeException misconfigured = null;
    int toMend = 0;
    for (int node = 0; node < members.size(); node++) {
      Throwable failure = ballot.failure(node);
      if (failure != null) {
        failures.put(members.address(node), failure);
        if (failure instanceof NodeException cause && cause.isMisconfigured()) {
          misconfigured = cause;
          toMend++;
        }
      }
    }
    LockBackendException outage =
        new LockBackendException(
            message + " (" + votes.answered() + " of " + votes.nodes() + " nodes answered)",
            failures,
            outcomeUnknown);
    return misconfigured != null && votes.answered() + toMend >= votes.quorum()
        ? new LockConfigurationException(String.valueOf(outage.getMessage()), misconfigured)
        : outage;
  }

  private String addresses(long set) {
    StringBuilder text = new StringBuilder();
    for (long left = set; left != 0; left &= left - 1) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(members.address(Long.numberOfTrailingZeros(left)));
    }
    return text.toString();
  }

  private Moment validUntil(Moment start, Duration ttl) {
    return start.plusNanos(ttl.minus(options.driftOf(ttl)).toNanos());
  }

  private String keyOf(String name) {
    return options.keyPrefix() + name;
  }

  private long all() {
    return -1L >>> (Long.SIZE - members.size());
  }

  /** Rounded up: a key that lives longer than the validity is safe. */
  private static long millis(Duration duration) {
    return (duration.toNanos() + 999_999) / 1_000_000;
  }
}
