package dev.holdfast.simulation;

import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.simulation.Poll.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Judges what the core makes of votes, by those that pass through the drivers: how long stragglers
 * are waited for, and whether outage, contention, loss and release are reported correctly.
 */
final class Polls {
  private static final long MILLI = 1_000;
  private static final long NANOS = 1_000;
  private static final long FOREVER = Long.MAX_VALUE / 2;

  /** The tolerance for timers that are late. */
  private static final long LATE = 10 * MILLI;

  private final World world;
  private final Judge judge;
  private final Map<String, Poll> latest = new HashMap<>();
  private final Map<String, List<Poll>> releases = new HashMap<>();
  private final Map<Ask, List<Poll>> attempts = new HashMap<>();

  /**
   * The longest time, in nanoseconds, that each client can have waited for its last quorum of
   * answers.
   */
  private final Map<Host, Long> lastQuorum = new HashMap<>();

  private record Ask(Host host, String key) {}

  Polls(World world, Judge judge) {
    this.world = world;
    this.judge = judge;
  }

  // ---- what passes through a driver
  // ------------------------------------------------------------------------------------

  /** Notes that a round, or a part of one, is about to be sent. */
  void sending(Host host, Round round) {
    Kind kind = Poll.kindOf(round.command());
    if (kind == Kind.NONE) {
      return;
    }
    String token = Poll.tokenOf(round.command());
    Poll known = kind == Kind.RELEASE ? releaseOf(round) : latest.get(id(kind, token));
    boolean isAnother = kind == Kind.EXTENSION && known != null && known.round.isDecided();
    if (known != null && !(isAnother && !round.isDecided())) {
      known.sendsMore(round);
      return;
    }
    Poll poll = new Poll(host, round, latest.get(id(Kind.ATTEMPT, token)), world.setting.nodes());
    if (kind == Kind.RELEASE) {
      releases.computeIfAbsent(token, unseen -> new ArrayList<>()).add(poll);
    } else {
      latest.put(id(kind, token), poll);
    }
    if (kind == Kind.ATTEMPT) {
      attempts.computeIfAbsent(new Ask(host, poll.key), ask -> new ArrayList<>()).add(poll);
    }
  }

  /** Returns whether a node has confirmed a release of the lease with this token. */
  boolean hasReleased(String token, int node) {
    return releases.getOrDefault(token, List.of()).stream().anyMatch(poll -> poll.isMine(node));
  }

  /**
   * Returns an id. An adoption has the same id as an attempt, because each is the first round of
   * its token.
   */
  private static String id(Kind kind, String token) {
    return (Poll.isFirst(kind) ? Kind.ATTEMPT : kind) + token;
  }

  /**
   * Returns the poll that a round of a release belongs to. A pending release is sent to one node in
   * a call of its own, and may overtake the call that it stands for.
   */
  private @Nullable Poll releaseOf(Round round) {
    return releases.getOrDefault(Poll.tokenOf(round.command()), List.of()).stream()
        .filter(poll -> isOfSameCall(poll.round, round))
        .findFirst()
        .orElse(null);
  }

  /**
   * Returns whether one call sent both rounds. All rounds of a call share one list of arguments.
   */
  private static boolean isOfSameCall(Round one, Round other) {
    return one.command() instanceof Command.Eval first
        && other.command() instanceof Command.Eval second
        && first.arguments() == second.arguments();
  }

  /**
   * Notes that an answer is about to be read.
   *
   * @return the poll that the answer belongs to, or null if it is of no interest
   */
  @Nullable Poll reading(Round round, int node, @Nullable Object reply) {
    Poll poll = pollOf(round);
    if (poll != null) {
      poll.reply(node, reply);
    }
    return poll;
  }

  /** Notes that a round is about to stop waiting for a node. */
  @Nullable Poll failing(Round round, int node) {
    Poll poll = pollOf(round);
    if (poll != null) {
      poll.failed(node);
    }
    return poll;
  }

  private @Nullable Poll pollOf(Round round) {
    Kind kind = Poll.kindOf(round.command());
    if (kind == Kind.RELEASE) {
      return releaseOf(round);
    }
    Poll poll = kind == Kind.NONE ? null : latest.get(id(kind, Poll.tokenOf(round.command())));
    boolean isLate = poll != null && poll.round != round && round.isDecided();
    return isLate && !Poll.isFirst(kind) ? null : poll;
  }

  /** Notes that an answer has been read. */
  void read(@Nullable Poll poll) {
    if (poll == null) {
      return;
    }
    switch (poll.bringsTheQuorum(quorum())) {
      case YES -> lastQuorum.put(poll.host, poll.ageNanos());
      case PERHAPS -> lastQuorum.merge(poll.host, poll.ageNanos(), Math::max);
      case NO -> {}
    }
    if (poll.beginsToStraggle(quorum(), world.setting.nodes())) {
      long nodeTimeout = NANOS * MILLI * world.setting.nodeTimeoutMillis();
      // The call began before its first part was sent, if that waited for a connection.
      long heldBack = poll.isSentInParts() ? nodeTimeout : 0;
      long limit = Math.max(nodeTimeout, 2 * poll.ageNanos() + heldBack);
      requireDecided(poll, limit + limit / 100 + NANOS * LATE);
    }
    if (poll.kind == Kind.EXTENSION && poll.denials() >= quorum()) {
      Holding holding = judge.holding(poll.token);
      if (holding != null && !holding.isOver() && holding.lease.isHeld()) {
        judge.broken(
            Invariant.LOSS_REASON, poll.host.id(), holding + " is held, though a quorum denies it");
      }
    }
  }

  /** Checks FAULT-2 by the client's clock, after the client has run for a short time. */
  private void requireDecided(Poll poll, long limitNanos) {
    Host host = poll.host;
    long due = world.now() + host.clock.micros(limitNanos - poll.ageNanos());
    world.at(
        Math.max(due, Math.min(host.pausedUntil(), world.now()) + LATE),
        host,
        () -> {
          if (poll.round.isDecided() || host.workload().isClosed()) {
            return;
          }
          if (poll.ageNanos() < limitNanos || world.now() - host.pausedUntil() < LATE) {
            requireDecided(poll, limitNanos);
          } else {
            judge.broken(
                Invariant.STRAGGLERS,
                host.id(),
                poll.kind + " for " + poll.key + " waits for a minority");
          }
        });
  }

  // ---- what calls answer
  // ------------------------------------------------------------------------------------

  /** Returns the number of attempts that a client has made. */
  int attempts(Host host, String key) {
    return attempts.getOrDefault(new Ask(host, key), List.of()).size();
  }

  /** Returns whether an attempt of a client was an outage and is over. */
  boolean mayKnowOfAnOutage(Host host, String key) {
    return attempts.getOrDefault(new Ask(host, key), List.of()).stream()
        .map(attempt -> latest.getOrDefault(Kind.STORE + attempt.token, attempt))
        .anyMatch(last -> last.round.isDecided() && last.answers() < quorum());
  }

  private @Nullable Poll attempt(Host host, String key, int index) {
    List<Poll> made = attempts.getOrDefault(new Ask(host, key), List.of());
    return index >= 0 && index < made.size() ? made.get(index) : null;
  }

  /**
   * Checks the result of a request without a wait that got no lease and whose attempt is known.
   *
   * @param index of the attempt
   * @param failure null for contention
   */
  void answered(Host host, String key, int index, @Nullable Throwable failure) {
    Poll poll = attempt(host, key, index);
    if (poll != null) {
      requireTrue(poll, failure);
    }
  }

  /**
   * Checks that contention is reported correctly by a request that waited while its client had no
   * other for the same name. The last attempt is known. An attempt for which no node could be asked
   * is not seen here.
   *
   * @param before the number of attempts that the client had made before the request
   */
  void waitedAlone(Host host, String key, int before) {
    int made = attempts(host, key);
    Poll poll = made > before ? attempt(host, key, made - 1) : null;
    if (poll != null) {
      requireTrue(poll, null);
    }
  }

  /** Checks WAIT-15 when a wait has ended in the queue with contention. */
  void waitedInQueue(Host host, String key) {
    Poll attempt = attempt(host, key, attempts(host, key) - 1);
    Poll store = attempt == null ? null : latest.get(Kind.STORE + attempt.token);
    Poll last = store == null ? attempt : store;
    if (attempt == null || last == null || last.round.isDecided()) {
      return;
    }
    long nodeTimeout = NANOS * MILLI * world.setting.nodeTimeoutMillis();
    long silent = Math.max(nodeTimeout, 2 * lastQuorum.getOrDefault(host, 0L));
    if (last.mostAnswers() < quorum() && last.ageNanos() > silent + NANOS * LATE) {
      misreported(attempt, "contention, but no quorum has answered the attempt in flight");
    }
  }

  private void requireTrue(Poll attempt, @Nullable Throwable failure) {
    Poll store = latest.get(Kind.STORE + attempt.token);
    Poll last = store == null ? attempt : store;
    if (failure == null && last.mostAnswers() < quorum()) {
      misreported(attempt, "contention, but " + last.mostAnswers() + " nodes voted at most");
    } else if (failure instanceof LockOutageException && isGrantedTooLate(attempt, last)) {
      return; // VAL-5
    } else if (failure instanceof LockOutageException && last.answers() >= quorum()) {
      misreported(attempt, "an outage, but " + last.answers() + " nodes voted");
    } else if (failure instanceof LockOutageException) {
      long limit = world.setting.attemptAtLeast(attempt.ttlMillis);
      boolean possible = last.mostFailures() <= world.setting.nodes() - quorum();
      boolean onTime = attempt.host.isCalledBackAtOnce() && !attempt.isWallSet();
      if (possible && onTime && attempt.ageMicros() < limit) {
        misreported(attempt, "an outage after " + attempt.ageMicros() + " us of " + limit);
      }
    }
  }

  /** Tells whether a quorum granted, and the time of the grant was over at the answer. */
  private boolean isGrantedTooLate(Poll attempt, Poll last) {
    boolean isOver =
        attempt.isWallSet()
            || attempt.ageMicros() >= world.setting.validityMicros(attempt.ttlMillis);
    return isOver && last.mostGrants() >= quorum();
  }

  private void misreported(Poll attempt, String what) {
    judge.broken(
        Invariant.OUTAGE, attempt.host.id(), "a request for " + attempt.key + " reports " + what);
  }

  /** Checks the result of a release. */
  void released(Holding holding, boolean good, @Nullable Throwable failure) {
    List<Poll> sent = releases.getOrDefault(holding.lease.token(), List.of());
    Poll poll = sent.stream().max(Comparator.comparingInt(Poll::asked)).orElse(null);
    if (poll != null && sent.stream().filter(one -> one.asked() == poll.asked()).count() > 1) {
      return; // a pending release to one node looks like a release that reached only one
    }
    int answers = poll == null ? 0 : poll.mostAnswers();
    if (failure instanceof LockOutageException) {
      if (poll != null && poll.answers() >= quorum()) {
        misreported(holding, "fails, but " + poll.answers() + " nodes answered");
      }
    } else if (failure == null && holding.heldWhenReleased) {
      if (answers < quorum()) {
        misreported(holding, "is " + good + ", but " + answers + " nodes answered at most");
      } else if (poll != null && good && poll.denials() >= quorum()) {
        misreported(holding, "is true, but " + poll.denials() + " nodes did not have it");
      } else if (poll != null && !good && poll.mostDenials() < quorum()) {
        misreported(
            holding, "is false, but " + poll.mostDenials() + " nodes did not have it at most");
      }
    }
  }

  private void misreported(Holding holding, String what) {
    judge.broken(
        Invariant.RELEASE_ANSWER, holding.host.id(), "the release of " + holding + " " + what);
  }

  /** Checks the reason of a loss. */
  void lost(Holding holding, LossReason reason) {
    Poll last = latest.get(Kind.EXTENSION + holding.lease.token());
    Poll denial = last != null && last.mostDenials() >= quorum() ? last : null;
    String wrong =
        switch (reason) {
          case TAKEN ->
              denial == null
                  ? "no quorum denies it"
                  : denial.sawAnother() || denial.isDoubtful() ? null : "no node has another token";
          case REMOVED ->
              denial == null
                  ? "no quorum denies it"
                  : denial.sawAnother() ? "another has it" : null;
          case UNREACHABLE ->
              holding.request.keepAliveUpTo().isEmpty() && !holding.isExtended()
                  ? "no renewal was due"
                  : null;
          case EXPIRED -> isUnanswered(holding, last) ? "its renewal was not answered" : null;
          case MAX_HOLD -> mayHoldOn(holding) ? "it may be held for longer" : null;
          case CLOSED -> holding.host.workload().isClosed() ? null : "its manager is open";
        };
    if (wrong != null) {
      judge.broken(
          Invariant.LOSS_REASON,
          holding.host.id(),
          holding + " is lost: " + reason + ", but " + wrong);
    }
  }

  /**
   * Returns whether no quorum has answered the last renewal. Leases that the holder extended are
   * not judged.
   */
  private boolean isUnanswered(Holding holding, @Nullable Poll last) {
    return last != null
        && holding.request.keepAliveUpTo().isPresent()
        && !holding.isExtended()
        && last.mostGrants() < quorum()
        && last.mostDenials() < quorum();
  }

  /** Returns whether it may hold on by more than the allowance for drift of the last extension. */
  private boolean mayHoldOn(Holding holding) {
    Poll attempt = latest.get(Kind.ATTEMPT + holding.lease.token());
    long hold = holding.request.keepAliveUpTo().map(most -> most.toNanos() / NANOS).orElse(FOREVER);
    long drift = holding.host.longestTtlMillis * MILLI / 100 + 4 * MILLI;
    return attempt != null
        && holding.host.clock.wallSetAt() < holding.askedAt
        && attempt.ageMicros() < hold - drift;
  }

  // ---- renewals
  // ------------------------------------------------------------------------------------

  /** Checks KEEP-5: the first renewal of a lease with keep-alive is in time. */
  void keeps(Holding holding) {
    Poll attempt = latest.get(Kind.ATTEMPT + holding.lease.token());
    if (attempt != null && holding.request.keepAliveUpTo().isPresent()) {
      requireRenewal(holding, attempt, attempt.ttlMillis * NANOS * MILLI / 3 + NANOS * LATE);
    }
  }

  private void requireRenewal(Holding holding, Poll attempt, long dueNanos) {
    Host host = holding.host;
    long left = Math.max(NANOS * LATE, dueNanos - attempt.ageNanos());
    long pausesSeen = host.pausedUntil();
    world.at(
        world.now() + host.clock.micros(left),
        host,
        () -> {
          boolean isRenewed = latest.containsKey(Kind.EXTENSION + holding.lease.token());
          if (holding.isOver() || isRenewed || host.workload().isClosed()) {
            return;
          }
          if (host.pausedUntil() != pausesSeen || attempt.ageNanos() < dueNanos) {
            requireRenewal(holding, attempt, dueNanos);
          } else if (holding.lease.isHeld() && judge.listening.canAsk(host)) {
            judge.broken(Invariant.RENEWAL, host.id(), holding + " has not been renewed in time");
          }
        });
  }

  private int quorum() {
    return world.setting.quorum();
  }
}
