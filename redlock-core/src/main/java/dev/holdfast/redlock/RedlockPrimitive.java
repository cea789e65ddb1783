package dev.holdfast.redlock;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Moment;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The Redlock algorithm: acquire, extend and release are rounds whose votes are counted. An attempt
 * notes the time, asks all N nodes for {@code SET key token NX PX ttl}, and holds the lock if
 * ⌊N/2⌋+1 of them grant it while some of the ttl is left, less what has passed since and what
 * clocks may drift; if not, it takes it back everywhere. A release compares and deletes.
 */
final class RedlockPrimitive implements LockPrimitive {
  private final RedlockOptions options;
  private final Clock clock;
  private final Scheduler scheduler;
  private final Runnable afterClose;
  private final long quorumNanos;
  private final Members members;
  private final RedisNodes nodes;
  private final Tokens tokens;
  private final Guard guard;
  private final Fences fences;
  private final Releases releases;
  private final Outages outages;
  private final Notices notices;
  private final GuardedNodes guarded;
  private final AtomicReference<@Nullable CompletableFuture<Void>> trusting =
      new AtomicReference<>();

  RedlockPrimitive(
      RedisNodes nodes,
      RedlockOptions options,
      Guard guard,
      Scheduler scheduler,
      Runnable afterClose) {
    this.options = options;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.afterClose = afterClose;
    this.quorumNanos = options.quorumTimeout().toNanos();
    this.nodes = nodes;
    this.tokens = new Tokens(options.random());
    this.guard = guard;
    this.fences = new Fences(options, guard);
    this.releases = new Releases(nodes, options, scheduler);
    this.members = releases.members();
    this.notices = new Notices(nodes, members::isUp, scheduler, tokens.next(""));
    members.whenChanged(notices::changed);
    this.outages = new Outages(members, guard, clock);
    this.guarded = new GuardedNodes(guard, members, scheduler, options.quorumTimeout());
  }

  Members members() {
    return members;
  }

  /**
   * Connects, once. With {@code newNodes=trust} nodes that all look new are marked before anything
   * else is asked: never later, so that nodes that lose their data under this manager wait.
   */
  CompletableFuture<Void> open() {
    CompletableFuture<Void> opened = members.open();
    if (!options.isTrustingNewNodes() || !guard.isOn()) {
      return opened;
    }
    CompletableFuture<Void> trusted = new CompletableFuture<>();
    if (trusting.compareAndSet(null, trusted)) {
      opened
          .thenCompose(now -> guarded.trustNew())
          .whenComplete((done, failure) -> trusted.complete(null));
    }
    return Objects.requireNonNull(trusting.get());
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
    if (options.isFencing()) {
      declared.add(LockCapability.FENCING_TOKEN);
    }
    if (members.size() >= 3) {
      declared.add(LockCapability.FAULT_TOLERANT);
    }
    return declared;
  }

  @Override
  public void requireName(String name) {
    options.keyPrefix().requireName(name);
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    if (ttl.compareTo(options.maxTtl()) > 0) { // of a manager that stands over two, say
      throw new LockConfigurationException(
          "the ttl %d ms is above these nodes' maxTtl, %d ms: ask for less and for keepAliveUpTo, which renews it"
              .formatted(ttl.toMillis(), options.maxTtl().toMillis()));
    }
    options.validity().requireUsable(ttl);
  }

  /** An attempt of two trips and a clean-up has one limit, too; connecting comes before. */
  @Override
  public Duration longestOperation() {
    return options.connectTimeout().plus(options.quorumTimeout());
  }

  @Override
  public CompletionStage<Outcome> attempt(Attempt attempt) {
    CompletableFuture<Void> opened = open();
    if (opened.isDone()) {
      return tryOnce(attempt);
    }
    long begun = clock.nanos();
    attempt.progress().outage(() -> outages.whileConnecting(attempt.name(), begun));
    return opened.thenCompose(now -> tryOnce(attempt.withoutCaller()));
  }

  private CompletionStage<Outcome> tryOnce(Attempt attempt) {
    String token = tokens.next(attempt.owner());
    return new Acquire(options, scheduler, releases, outages, attempt, token, fences, guard)
        .outcome();
  }

  @Override
  public CompletionStage<Extension> extend(Grant grant, Duration ttl) {
    RedlockGrant ours = (RedlockGrant) grant;
    Moment start = clock.now();
    Moment end = options.validity().until(start, ttl);
    Endings endings = new Endings(members, guard, scheduler);
    Ballot ballot =
        endings.of(
            new Ballot(
                members,
                new Ballot.Question(
                    guard.command(
                        Scripts.EXTEND,
                        List.of(ours.key()),
                        List.of(ours.token(), Long.toString(Millis.of(ttl)))),
                    Scripts::compared,
                    Tally::isExtensionDecided,
                    node -> ours.isSure(node, clock.now()),
                    (node, answer) -> ours.heard(node, answer, end),
                    false,
                    () -> guard.teaching(Scripts.EXTEND),
                    node -> {}),
                members.all(),
                false));
    ours.extendedBy(ballot);
    ours.sentTo(ballot.start(scheduler, quorumNanos));
    return ballot
        .decision()
        .thenApply(
            votes -> {
              long over = endings.due(ballot, votes, quorumNanos);
              if (over != 0) {
                endings.end(over, quorumNanos);
              }
              if (votes.isGranted()) {
                return new Extended(end);
              }
              if (votes.isDenied()) {
                return new Lost(lossOf(votes));
              }
              throw outages.noQuorum(
                  "no quorum extended the lease on '" + ours.name() + "'", ballot, votes, true);
            });
  }

  @Override
  public CompletionStage<Released> release(Release release) {
    RedlockGrant ours = (RedlockGrant) release.grant();
    long keepMillis = release.keep().isZero() ? 0 : Millis.of(release.keep());
    Notices.News news =
        release.handsOver() ? notices.none() : notices.ofRelease(ours.key(), ours.token());
    ours.abandonExtension();
    Ballot ballot = releases.ofLock(ours, keepMillis, news, release.callerWaits());
    ballot.start(scheduler, quorumNanos);
    return ballot
        .decision()
        .thenApply(
            votes -> {
              if (votes.isDenied()) {
                return new Released(Optional.of(lossOf(votes)), news.others());
              }
              if (votes.hasQuorumOfAnswers()) {
                return new Released(Optional.empty(), news.others());
              }
              throw outages.noQuorum(
                  "no quorum answered the release of '" + ours.name() + "'", ballot, votes, true);
            });
  }

  @Override
  public Watch watch(String name, Runnable released) {
    return notices.watch(keyOf(name), released);
  }

  @Override
  public CompletionStage<Optional<LockStatus>> inspect(String name) {
    Inspection inspection = new Inspection(members.size());
    return all(Scripts.INSPECT, name, inspection::read, "no quorum told who holds '" + name + "'")
        .thenApply(votes -> inspection.status(name));
  }

  @Override
  public CompletionStage<Boolean> forceRelease(String name) {
    return all(Scripts.REMOVE, name, Scripts::compared, "no quorum removed '" + name + "'")
        .thenApply(
            votes -> {
              if (votes.mine() == 0 && votes.wrongType() != 0) {
                throw outages.foreign(keyOf(name), votes.wrongType());
              }
              return votes.mine() != 0;
            });
  }

  /** Runs a script for a lock at all nodes, and hears each that answers in time. */
  private CompletionStage<Tally> all(
      Script script,
      String name,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
      String withoutAnswers) {
    Command command = new Command.Eval(script, false, List.of(keyOf(name)), List.of());
    return open()
        .thenCompose(
            now -> {
              Ballot ballot = Ballot.of(members, command, reader, Tally::isComplete, false);
              ballot.start(scheduler, quorumNanos);
              return ballot
                  .decision()
                  .thenApply(
                      votes -> {
                        outages.requireAnswers(withoutAnswers, ballot, votes);
                        return votes;
                      });
            });
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    if (type != RestartGuard.class) {
      return nodes.unwrap(type);
    }
    return guard.isOn()
        ? Optional.of(type.cast(new RestartGuard(guarded, this::open)))
        : Optional.empty();
  }

  @Override
  public void close() {
    notices.close();
    members.close();
    afterClose.run();
  }

  private static LossReason lossOf(Tally votes) {
    return (votes.other() | votes.wrongType()) != 0 ? LossReason.TAKEN : LossReason.REMOVED;
  }

  private String keyOf(String name) {
    return options.keyPrefix().keyOf(name);
  }
}
