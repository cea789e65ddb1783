package dev.holdfast.simulation;

import java.util.List;
import java.util.function.Consumer;

/** Plans what goes wrong in a run. All of it is over at the time of healing. */
final class Faults {
  private static final long FIRST = 200_000;

  private final World world;
  private final Rates rates;
  private final long longestTtl;

  Faults(World world) {
    this.world = world;
    this.rates = world.rates;
    this.longestTtl = world.setting.longestTtlMillis() * 1_000L;
  }

  /** Returns the time that is this far from now, but not after healing. */
  static long end(World world, long micros) {
    return Math.max(world.now(), Math.min(world.now() + micros, world.healing()));
  }

  void plan() {
    some(rates.clientPauses, () -> host().pause(until(5_000, longestTtl * 3 / 2)));
    some(rates.sleeps, () -> host().sleep(until(5_000, longestTtl * 2)));
    if (world.setting.stutterMillis() > 0) {
      world.in(FIRST, this::stutter);
    }
    some(rates.nodePauses, () -> node().pause(until(5_000, longestTtl * 3 / 2)));
    some(rates.partitions, () -> part());
    some(rates.crashes, () -> crash(until(10_000, 4_000_000), false));
    some(rates.emptyCrashesWithRest, () -> crashUntilAllExpired());
    some(rates.dataLosses, () -> ifUp(node -> Losses.unguarded(world, node)));
    some(rates.guardedLosses, () -> Losses.someNodes(world));
    some(rates.clocksOff, () -> ifUp(node -> Losses.clockOff(world, node)));
    some(rates.clocksMended, () -> ifUp(node -> Losses.clockMended(world, node)));
    some(rates.wallSteps, () -> setWall());
    some(rates.errorSpells, () -> node().failFor(until(10_000, 4_000_000)));
    some(rates.errorSpells, () -> node().forgetScripts());
    some(rates.clientDeaths, () -> die());
    some(rates.closes, () -> host().workload().close());
  }

  /** Stops all nodes for a short time, twice a second until the end of the run. */
  private void stutter() {
    long micros = world.setting.stutterMillis() * 1_000L;
    world.nodes.forEach(node -> node.pause(world.now() + micros));
    world.in(400_000 + world.random.nextInt(100_000), this::stutter);
  }

  private void some(int most, Runnable fault) {
    int count = most == 0 ? 0 : 1 + world.random.nextInt(most);
    for (int i = 0; i < count; i++) {
      long when = FIRST + world.random.nextLong(world.healing() - FIRST);
      world.at(when, null, fault);
    }
  }

  private long until(long shortest, long longest) {
    return end(world, world.spread(shortest, longest));
  }

  private List<Host> alive() {
    return world.hosts.stream().filter(Host::isAlive).toList();
  }

  private Host host() {
    List<Host> alive = alive();
    return alive.get(world.random.nextInt(alive.size()));
  }

  private Node node() {
    return world.nodes.get(world.random.nextInt(world.nodes.size()));
  }

  private void ifUp(Consumer<Node> fault) {
    Node node = node();
    if (node.isUp()) {
      fault.accept(node);
    }
  }

  private void crash(long restartAt, boolean empty) {
    ifUp(node -> node.crash(restartAt, empty));
  }

  /** Crashes with an allowance for the drift of clocks, without those that would take too long. */
  private void crashUntilAllExpired() {
    long rest = longestTtl + longestTtl / 50 + 10_000;
    if (world.now() + rest < world.healing()) {
      crash(world.now() + rest, true);
    }
  }

  private void part() {
    long until = until(10_000, longestTtl * 2);
    boolean allHosts = world.random.nextBoolean();
    Host one = host();
    int nodes = 1 + world.random.nextInt(world.nodes.size());
    int first = world.random.nextInt(world.nodes.size());
    world.note(
        allHosts ? Trace.NONE : one.id(),
        first,
        "cannot be reached",
        "with the next " + (nodes - 1) + ", for " + (until - world.now()) + " us");
    for (int i = 0; i < nodes; i++) {
      Node node = world.nodes.get((first + i) % world.nodes.size());
      for (Connection connection : node.connections()) {
        if (allHosts || connection.host() == one) {
          connection.stall(until);
        }
      }
      node.partedFrom(allHosts ? null : one, until);
    }
  }

  private void setWall() {
    Host host = host();
    long step = world.spread(1_000, rates.longestWallStep) * (world.random.nextBoolean() ? 1 : -1);
    world.note(host.id(), Trace.NONE, "its wall clock is set", "by " + step + " us");
    host.clock.setWall(step);
  }

  /** Kills a client, unless it is the last one. */
  private void die() {
    if (alive().size() == 1) {
      return;
    }
    host().die();
    world.at(end(world, world.spread(1_000, 1_000_000)), null, () -> Run.addHost(world));
  }
}
