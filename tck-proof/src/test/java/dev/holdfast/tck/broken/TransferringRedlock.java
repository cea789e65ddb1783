package dev.holdfast.tck.broken;

import dev.holdfast.LockCapability;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.tck.broken.Request.Answer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Redlock in a few lines that can adopt what was transferred, and right. */
class TransferringRedlock extends SmallRedlock {
  private final Clock clock;

  TransferringRedlock(Members members, Clock clock, Timeouts timeouts) {
    super(members, clock, timeouts);
    this.clock = clock;
  }

  @Override
  public final Set<LockCapability> capabilities() {
    Set<LockCapability> all = EnumSet.copyOf(super.capabilities());
    all.add(LockCapability.TRANSFER);
    return all;
  }

  @Override
  public String transferScope() {
    return members().all().size() + " fake nodes";
  }

  @Override
  public final CompletableFuture<Outcome> adopt(Adoption adoption) {
    return members().open().thenCompose(opened -> adoptOnce(adoption));
  }

  private CompletableFuture<Outcome> adoptOnce(Adoption adoption) {
    Attempt attempt = adoption.attempt();
    String token = adoptedToken(adoption);
    ClockReading start = clock.now();
    Timeouts limit = timeouts().within(attempt.ttl());
    return members()
        .ask(
            new Poll(
                members().all(),
                swap(adoption, token),
                limit,
                votes ->
                    isGranted(votes)
                        || (!votes.isQuorum(votes.mine() + votes.pending()) && isAnswered(votes)),
                node -> false))
        .thenCompose(
            votes -> {
              Held held =
                  new Held(
                      attempt.name(),
                      token,
                      adoptedUntil(start, attempt.ttl()),
                      votes.saying(Answer.MINE),
                      ConcurrentHashMap.newKeySet());
              held.reached().addAll(votes.reached(members().all()));
              return isAdopted(votes) && isValid(held.validUntil())
                  ? CompletableFuture.completedFuture(held)
                  : end(adoption, held, votes, limit).thenApply(done -> notAdopted(held, votes));
            });
  }

  /** The value of the adopted lock. */
  String adoptedToken(Adoption adoption) {
    return token(adoption.attempt());
  }

  Request swap(Adoption adoption, String token) {
    return Request.swap(
        adoption.attempt().name(), adoption.transferredToken(), token, adoption.attempt().ttl());
  }

  ClockReading adoptedUntil(ClockReading start, Duration ttl) {
    return validUntil(start, ttl);
  }

  final Clock clock() {
    return clock;
  }

  boolean isAdopted(Votes votes) {
    return isGranted(votes);
  }

  /** Ends a transfer whose adoption failed. */
  private CompletableFuture<Votes> end(Adoption adoption, Held held, Votes votes, Timeouts limit) {
    CompletableFuture<Votes> own = releaseOwnAttempt(held, votes, limit);
    if (!votes.isQuorum(votes.notMine()) || votes.count(Answer.OTHER) == 0) {
      endTransfer(adoption, limit);
    }
    return own;
  }

  CompletableFuture<Votes> releaseOwnAttempt(Held held, Votes votes, Timeouts limit) {
    return releaseAttempt(held, votes, limit);
  }

  void endTransfer(Adoption adoption, Timeouts limit) {
    members()
        .ask(
            new Poll(
                members().all(),
                Request.release(
                    adoption.attempt().name(), adoption.transferredToken(), Duration.ZERO, false),
                limit,
                votes -> false,
                node -> true));
  }

  Outcome notAdopted(Held held, Votes votes) {
    if (!isAnswered(votes)) {
      throw outage("no quorum voted on the adoption of '" + held.name() + "'", votes, false);
    }
    return new LockPrimitive.Lost(reason(votes));
  }

  LossReason reason(Votes votes) {
    return isGranted(votes) ? LossReason.EXPIRED : lossOf(votes);
  }
}
