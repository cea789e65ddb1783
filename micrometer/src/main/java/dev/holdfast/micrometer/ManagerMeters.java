package dev.holdfast.micrometer;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LossReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The meters of one manager in one registry, and the listener that feeds them. */
final class ManagerMeters implements LockListener {
  /** Separates margin 0 from margin 1. Registries refuse a boundary of zero. */
  private static final double BELOW_MARGIN_1 = 0.5;

  /** The outcome of a request: granted, or a {@link LockListener.Failure}. */
  private enum Outcome {
    GRANTED
  }

  /** The end of a hold. */
  private enum End {
    RELEASED,
    LOST,
    TRANSFERRED
  }

  private final LockManager manager;
  private final MeterRegistry registry;
  private final Tags tags;
  private final LockTag lockTag;
  private final Set<Meter> meters = ConcurrentHashMap.newKeySet();
  private final MeterFamily<Timer> acquires;
  private final MeterFamily<Timer> holds;
  private final MeterFamily<Counter> losses;
  private final MeterFamily<Timer> renewals;
  private final MeterFamily<Counter> votes;
  private volatile @Nullable DistributionSummary margins;
  private volatile @Nullable Registration registration;
  private volatile boolean isClosed;
  private volatile int waiting;
  private volatile int inFlight;

  ManagerMeters(LockManager manager, MeterRegistry registry, Tags tags, LockTag lockTag) {
    this.manager = manager;
    this.registry = registry;
    this.tags = tags;
    this.lockTag = lockTag;
    acquires = timers("holdfast.acquire", "outcome", "The time from a request to its result");
    holds = timers("holdfast.hold", "end", "The time from a grant to the end of the lease");
    losses = counters("holdfast.lost", "reason", LockTag.KEY, "Leases that were lost");
    renewals = timers("holdfast.renewal", "outcome", "The time that a renewal took");
    votes = counters("holdfast.node.votes", "vote", "node", "Votes of a node");
  }

  /**
   * Adds the meters and starts to listen.
   *
   * @param name the manager's name, for messages
   */
  void start(String name) {
    if (registry.find("holdfast.leases").tags(tags).gauge() != null) {
      throw new IllegalStateException(
          "the registry has meters of a lock manager '"
              + name
              + "' already: give each manager a name of its own, or close the other metrics");
    }
    margins = keep(marginSummary());
    addGauges();
    addCounters();
    Registration begun = manager.addListener(this);
    registration = begun;
    if (isClosed) {
      begun.close();
    }
  }

  /** Stops to listen and removes the meters. May be called again, and while meters are added. */
  void close() {
    isClosed = true;
    Registration begun = registration;
    if (begun != null) {
      begun.close();
    }
    meters.forEach(registry::remove);
  }

  private DistributionSummary marginSummary() {
    return DistributionSummary.builder("holdfast.quorum.margin")
        .description("Nodes that may fail before the next request has no quorum, at each grant")
        .serviceLevelObjectives(BELOW_MARGIN_1)
        .tags(tags)
        .register(registry);
  }

  private void addGauges() {
    gauge("holdfast.leases", Tags.empty(), "Leases held now", () -> manager.leases().size());
    gauge("holdfast.waiting", Tags.empty(), "Requests without a result", () -> waiting);
    gauge("holdfast.inflight", Tags.empty(), "Operations sent and not answered", () -> inFlight);
    for (LockNode.State state : LockNode.State.values()) {
      Tags ofState = Tags.of("state", state.name().toLowerCase(Locale.ROOT));
      gauge("holdfast.nodes", ofState, "Nodes by their state", () -> count(state));
    }
  }

  private long count(LockNode.State state) {
    return manager.nodes().stream().filter(node -> node.state() == state).count();
  }

  /** Adds what is known before the first event: a counter that starts at one hides its start. */
  private void addCounters() {
    if (!lockTag.isUsed()) {
      acquires.addAll(Outcome.values(), LockTag.NONE);
      acquires.addAll(Failure.values(), LockTag.NONE);
      holds.addAll(End.values(), LockTag.NONE);
      losses.addAll(LossReason.values(), LockTag.NONE);
      renewals.addAll(Renewal.values(), LockTag.NONE);
      overruns(LockTag.NONE);
    }
    for (LockNode node : manager.nodes()) {
      votes.addAll(Vote.values(), node.address());
    }
  }

  /** Finds or adds the timer of overruns. They are too rare to keep their timers at hand. */
  private Timer overruns(String lock) {
    return keep(
        Timer.builder("holdfast.overrun")
            .description("The time from a loss to the release by its holder")
            .tags(tags)
            .tags(lock.isEmpty() ? Tags.empty() : Tags.of(LockTag.KEY, lock))
            .register(registry));
  }

  private void gauge(String name, Tags more, String description, Supplier<Number> value) {
    keep(
        Gauge.builder(name, value)
            .description(description)
            .tags(tags)
            .tags(more)
            .register(registry));
  }

  private MeterFamily<Timer> timers(String name, String key, String description) {
    return new MeterFamily<>(
        key,
        LockTag.KEY,
        more ->
            keep(
                Timer.builder(name)
                    .description(description)
                    .tags(tags)
                    .tags(more)
                    .register(registry)));
  }

  private MeterFamily<Counter> counters(
      String name, String key, String subjectKey, String description) {
    return new MeterFamily<>(
        key,
        subjectKey,
        more ->
            keep(
                Counter.builder(name)
                    .description(description)
                    .tags(tags)
                    .tags(more)
                    .register(registry)));
  }

  /** Notes a meter for removal. One that is added during a close is removed at once. */
  private <M extends Meter> M keep(M meter) {
    meters.add(meter);
    if (isClosed) {
      registry.remove(meter);
    }
    return meter;
  }

  @Override
  public void onGranted(String name, long leaseId, long waitedNanos, int votes, int margin) {
    record(acquires, Outcome.GRANTED, name, waitedNanos);
    DistributionSummary summary = margins;
    if (summary != null) {
      summary.record(margin);
    }
  }

  @Override
  public void onNotGranted(String name, Failure failure, long waitedNanos) {
    record(acquires, failure, name, waitedNanos);
  }

  @Override
  public void onRenewal(String name, long leaseId, Renewal outcome, long tookNanos) {
    record(renewals, outcome, name, tookNanos);
  }

  @Override
  public void onReleased(String name, long leaseId, long heldNanos, boolean confirmed) {
    record(holds, End.RELEASED, name, heldNanos);
  }

  @Override
  public void onTransferred(String name, long leaseId, long heldNanos) {
    record(holds, End.TRANSFERRED, name, heldNanos);
  }

  @Override
  public void onLost(String name, long leaseId, LossReason reason, long heldNanos) {
    record(holds, End.LOST, name, heldNanos);
    losses.of(reason, lockTag.valueOf(name)).increment();
  }

  @Override
  public void onOverrun(String name, long leaseId, long overrunNanos) {
    overruns(lockTag.valueOf(name)).record(overrunNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void onVote(String node, Vote vote) {
    votes.of(vote, node).increment();
  }

  @Override
  public void onLoad(int waiting, int inFlight) {
    this.waiting = waiting;
    this.inFlight = inFlight;
  }

  private void record(MeterFamily<Timer> timers, Enum<?> value, String lock, long nanos) {
    timers.of(value, lockTag.valueOf(lock)).record(nanos, TimeUnit.NANOSECONDS);
  }
}
