package dev.holdfast.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Watches that released locks keep other owners out until {@code holdAtLeast} is over. A node that
 * lost its data votes again when a quarantine is over, perhaps long before a hold is. So another
 * owner may be early if the nodes that never had the key, or lost it with their data, are a quorum.
 */
final class KeptHolds {
  private static final long MILLI = 1_000;

  /** Clocks drift, and a key's life is counted in milliseconds. */
  private static final long TOLERANCE = 20 * MILLI;

  private final World world;
  private final Judge judge;
  private final Map<String, List<Kept>> kept = new HashMap<>();
  private long outlivedQuarantines;
  private long cutShort;

  /** A hold, with the nodes that had confirmed the release when it was answered. */
  private record Kept(Holding holding, long releasedAt, long until, List<Node> nodes) {}

  KeptHolds(World world, Judge judge) {
    this.world = world;
    this.judge = judge;
  }

  /** Returns how many holds nodes of which some lost their data, and voted again, have kept. */
  long outlivedQuarantines() {
    return outlivedQuarantines;
  }

  /** Returns how many holds ended early because a quorum of nodes had lost the key. */
  long cutShort() {
    return cutShort;
  }

  /** Notes that a release was answered, and how long its lock must keep other owners out. */
  void released(Holding holding) {
    if (!world.profile.asks(Invariant.HOLD_KEPT) || holding.request.holdAtLeast().isZero()) {
      return;
    }
    long hold = holding.request.holdAtLeast().toNanos() / MILLI;
    long until = holding.askedAt + hold - hold / 1_000 - TOLERANCE;
    List<Node> having =
        world.nodes.stream()
            .filter(node -> judge.polls.hasReleased(holding.lease.token(), node.id()))
            .toList();
    kept.computeIfAbsent(holding.lease.name(), name -> new ArrayList<>())
        .add(new Kept(holding, world.now(), until, having));
  }

  void granted(Holding next) {
    List<Kept> ofName = kept.remove(next.lease.name());
    if (ofName == null) {
      return;
    }
    for (Kept hold : ofName) {
      if (next.host.isCalledBackAtOnce() && world.now() < hold.until()) {
        requireLost(hold, next);
      } else if (lost(hold) > 0 && hold.until() - hold.releasedAt() > world.setting.quarantine()) {
        outlivedQuarantines++;
      }
    }
  }

  private void requireLost(Kept hold, Holding next) {
    long without = world.setting.nodes() - hold.nodes().size() + lost(hold);
    if (without >= world.setting.quorum()) {
      cutShort++;
    } else {
      judge.broken(
          Invariant.HOLD_KEPT,
          next.host.id(),
          next
              + " is granted while "
              + hold.holding()
              + " keeps others out: "
              + hold.nodes().size()
              + " nodes confirmed its release, and "
              + lost(hold)
              + " of them lost data since");
    }
  }

  /** Counts restarts that came late enough for leases, too: a hold outlasts them. */
  private static long lost(Kept hold) {
    return hold.nodes().stream().filter(node -> node.lostCountersSince(hold.releasedAt())).count();
  }
}
