package dev.holdfast.redlock.internal.lock;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockNode;
import dev.holdfast.LockStatus;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.NodeObserver;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.guard.DefaultRestartGuardAdmin;
import dev.holdfast.redlock.internal.guard.GuardRecords;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.notify.ReleaseNotifications;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.VoteReader;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Script;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The Redlock algorithm, in which acquire, extend and release are rounds whose votes are counted.
 * An attempt notes the time and asks all N nodes for {@code SET key token NX PX ttl}. It holds the
 * lock if ⌊N/2⌋+1 nodes grant it while the ttl, less the elapsed time and the allowance for drift,
 * has not passed. Otherwise it releases the lock on every node. A release compares and deletes.
 */
public final class RedlockPrimitive implements LockPrimitive {
  private final AlgorithmOptions options;
  private final Clock clock;
  private final Scheduler scheduler;
  private final Runnable afterClose;
  private final long quorumNanos;
  private final NodeConnections connections;
  private final RedisNodes nodes;
  private final LockValues lockValues;
  private final GuardTerms guard;
  private final ReleaseRounds releases;
  private final QuorumFailures failures;
  private final ReleaseNotifications notifications;
  private final RedlockContext context;
  private final GuardRecords guardRecords;
  private final AtomicReference<@Nullable CompletableFuture<Void>> trusting =
      new AtomicReference<>();

  /**
   * Connects nothing yet.
   *
   * @param commands the connections that carry the commands, one to each of these nodes
   */
  public RedlockPrimitive(
      RedisNodes nodes,
      RedisConnections commands,
      AlgorithmOptions options,
      GuardTerms guard,
      Scheduler scheduler,
      Runnable afterClose) {
    this.options = options;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.afterClose = afterClose;
    this.quorumNanos = options.quorumTimeout().toNanos();
    this.nodes = nodes;
    this.lockValues = new LockValues(options.random());
    this.guard = guard;
    this.connections = new NodeConnections(nodes, commands, options, scheduler);
    this.releases = new ReleaseRounds(connections, options, scheduler);
    this.notifications =
        new ReleaseNotifications(nodes, connections::isUp, scheduler, lockValues.next(""));
    connections.whenConnected(releases::takePending);
    connections.whenChanged(notifications::onConnectionChanged);
    this.failures = new QuorumFailures(connections, guard, clock);
    this.context =
        new RedlockContext(
            options,
            scheduler,
            guard,
            connections,
            new FencingTokens(options, guard),
            releases,
            failures);
    this.guardRecords = new GuardRecords(guard, connections, scheduler, options.quorumTimeout());
  }

  NodeConnections connections() {
    return connections;
  }

  /**
   * Connects, once. With {@code newNodes=trust} nodes that all look new are initialised before any
   * other command, and never later, so that nodes that lose their data under this manager wait.
   */
  CompletableFuture<Void> open() {
    CompletableFuture<Void> opened = connections.open();
    if (!options.isTrustingNewNodes() || !guard.isOn()) {
      return opened;
    }
    CompletableFuture<Void> trusted = new CompletableFuture<>();
    if (trusting.compareAndSet(null, trusted)) {
      opened
          .thenCompose(now -> guardRecords.trustNew())
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
            LockCapability.FORCE_RELEASE,
            LockCapability.TRANSFER);
    if (options.isFencing()) {
      declared.add(LockCapability.FENCING_TOKEN);
    }
    if (connections.size() >= 3) {
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
    if (ttl.compareTo(options.maxTtl())
        > 0) { // the limit of a manager over two backends may be higher
      throw new LockConfigurationException(
          "the ttl %d ms is above these nodes' maxTtl, %d ms: give a shorter ttl and keepAliveUpTo"
              .formatted(ttl.toMillis(), options.maxTtl().toMillis()));
    }
    options.validity().requireUsable(ttl);
  }

  /**
   * Returns the limit of connecting and one operation. An attempt of two trips and a clean-up has
   * one limit, too.
   */
  @Override
  public Duration longestOperation() {
    return options.connectTimeout().plus(options.quorumTimeout());
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return connections.lendThread(operation);
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    CompletableFuture<Void> opened = open();
    if (opened.isDone()) {
      return tryOnce(attempt);
    }
    long begun = clock.nanos();
    attempt.progress().outage(() -> failures.whileConnecting(attempt.name(), begun));
    return opened.thenCompose(now -> tryOnce(attempt));
  }

  private CompletableFuture<Outcome> tryOnce(Attempt attempt) {
    String token = lockValues.next(attempt.ownerLabel());
    return new AcquireAttempt(context, attempt, token, null).start();
  }

  @Override
  public CompletableFuture<Outcome> adopt(Adoption adoption) {
    Attempt attempt = adoption.attempt();
    return open()
        .thenCompose(
            now ->
                new AcquireAttempt(
                        context,
                        attempt,
                        lockValues.next(attempt.ownerLabel()),
                        adoption.transferredToken())
                    .start());
  }

  @Override
  public String backend() {
    return "redlock";
  }

  @Override
  public String transferScope() {
    return "redlock, %d nodes, keyPrefix '%s'"
        .formatted(connections.size(), options.keyPrefix().text());
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    return new LeaseExtension(context, (RedlockGrant) grant, ttl, true).start();
  }

  @Override
  public CompletableFuture<Extension> extendForTransfer(Grant grant, Duration within) {
    return new LeaseExtension(context, (RedlockGrant) grant, within, false).start();
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    RedlockGrant grant = (RedlockGrant) release.grant();
    RemainingLife remaining = RemainingLife.of(release, clock.nanos());
    ReleaseNotifications.ReleaseNotification notification =
        release.isHandoff()
            ? notifications.none()
            : notifications.ofRelease(grant.key(), grant.token());
    grant.abandonExtension();
    QuorumCall call = releases.ofLock(grant, remaining, notification);
    call.start(scheduler, quorumNanos);
    return call.decision()
        .thenApply(
            votes -> {
              if (votes.isDenied()) {
                deleteLengthened(grant, remaining);
                return new Released(Optional.of(votes.lossReason()), notification.others());
              }
              if (votes.hasQuorumOfAnswers()) {
                return new Released(Optional.empty(), notification.others());
              }
              throw failures.noQuorum(
                  "no quorum answered the release of '" + grant.name() + "'", call, votes, true);
            });
  }

  /**
   * Deletes what a release that a quorum denied has lengthened on a minority: the lock was lost, so
   * these keys would keep a vote from every other owner for as long as the hold.
   */
  private void deleteLengthened(RedlockGrant grant, RemainingLife remaining) {
    if (remaining.mayLengthen() && remaining.millisLeft(clock.nanos()) > 0) {
      releases.ofLengthened(grant, remaining).start(scheduler, quorumNanos);
    }
  }

  @Override
  public Watch watch(String name, Runnable released) {
    return notifications.watch(keyOf(name), released);
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    Inspection inspection = new Inspection(connections.size());
    return all(
            Scripts.INSPECT,
            name,
            inspection::read,
            "no quorum reported the holder of '" + name + "'")
        .thenApply(votes -> inspection.status(name));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return all(Scripts.REMOVE, name, Scripts::compared, "no quorum removed '" + name + "'")
        .thenApply(
            votes -> {
              if (votes.mine().isEmpty() && !votes.wrongType().isEmpty()) {
                throw failures.foreign(keyOf(name), votes.wrongType());
              }
              return !votes.mine().isEmpty();
            });
  }

  /** Runs a script for a lock on all nodes, and waits for each that answers in time. */
  private CompletableFuture<Tally> all(
      Script script, String name, VoteReader reader, String withoutAnswers) {
    Command command = new Command.Eval(script, false, List.of(keyOf(name)), List.of());
    return open()
        .thenCompose(
            now -> {
              VotePolicy policy = VotePolicy.of(reader, Tally::isComplete);
              QuorumCall call = context.toAll(command, policy);
              call.start(scheduler, quorumNanos);
              return call.decision()
                  .thenApply(
                      votes -> {
                        failures.requireAnswers(withoutAnswers, call, votes);
                        return votes;
                      });
            });
  }

  @Override
  public void observe(NodeObserver observer) {
    connections.health().observe(observer);
  }

  @Override
  public List<LockNode> nodes() {
    return connections.health().nodes();
  }

  @Override
  public CompletableFuture<Boolean> ping(String name) {
    return open().thenCompose(now -> new Ping(context, keyOf(name)).start());
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    if (type != RestartGuardAdmin.class) {
      return nodes.unwrap(type);
    }
    return guard.isOn()
        ? Optional.of(type.cast(new DefaultRestartGuardAdmin(guardRecords, this::open)))
        : Optional.empty();
  }

  @Override
  public void close() {
    try {
      notifications.close();
      connections.close();
    } finally { // also if a driver throws
      afterClose.run();
    }
  }

  private String keyOf(String name) {
    return options.keyPrefix().keyOf(name);
  }
}
