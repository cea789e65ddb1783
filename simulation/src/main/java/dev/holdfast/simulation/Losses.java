package dev.holdfast.simulation;

/** The ways in which nodes lose their data, or a part of it. */
final class Losses {
  private static final long HOUR = 3_600_000_000L;
  private static final long SHORTEST_OUTAGE = 10_000;
  private static final long LONGEST_OUTAGE = 1_000_000;
  private static final int KINDS = 8;

  /** Until the quarantine of another node is looked at again. */
  private static final long WAIT = 20_000;

  private Losses() {}

  /** Loses data in ways after which an unguarded node votes at once. */
  static void unguarded(World world, Node node) {
    switch (world.random.nextInt(4)) {
      case 0 -> node.crashAndVoteAtOnce(outage(world));
      case 1 -> node.flush();
      case 2 -> node.rollBack(outage(world));
      default -> node.jumpAhead(world.spread(100_000, HOUR));
    }
  }

  /** Makes any number of nodes lose data, in ways that the restart guard detects. */
  static void someNodes(World world) {
    if (world.rates.stranger && !world.nodes.stream().allMatch(Node::isWhole)) {
      if (!world.isHealed()) {
        world.in(WAIT, () -> someNodes(world));
      }
      return;
    }
    int nodes = world.setting.nodes();
    int first = world.random.nextInt(nodes);
    int count = world.rates.losesAMinority ? 1 : 1 + world.random.nextInt(nodes);
    boolean alike = world.random.nextBoolean();
    int kind = world.random.nextInt(KINDS);
    for (int i = 0; i < count; i++) {
      Node node = world.nodes.get((first + i) % nodes);
      if (node.isUp()) {
        guarded(world, node, alike ? kind : world.random.nextInt(KINDS));
      }
    }
  }

  private static void guarded(World world, Node node, int kind) {
    switch (kind) {
      case 0 -> node.crash(outage(world), true);
      case 1 -> node.flush();
      case 2 -> node.rollBack(outage(world));
      case 3 -> node.forgetGuard();
      case 4 -> node.swapDatabases();
      case 5 -> node.replicateAnEmptyServer(replication(world));
      case 6 -> node.replicateItsFormerReplica(replication(world));
      default -> replicateAnother(world, node);
    }
  }

  /**
   * Replicates another node, unless clocks are off. Keys would expire too late on a node whose
   * clock is behind.
   */
  private static void replicateAnother(World world, Node node) {
    int nodes = world.nodes.size();
    if (world.rates.clocksOff + world.rates.clocksMended == 0) {
      Node master = world.nodes.get((node.id() + 1 + world.random.nextInt(nodes - 1)) % nodes);
      node.replicate(master, replication(world));
    }
  }

  /**
   * Returns the end of a replication. It is early enough for a client that found a replica to retry
   * after a second.
   */
  private static long replication(World world) {
    long latest = Math.max(world.now(), world.healing() - 3_000_000);
    return Math.min(world.now() + world.spread(SHORTEST_OUTAGE, LONGEST_OUTAGE), latest);
  }

  /**
   * Sets a node's clock, and keeps its data only if that makes keys expire too early: too late
   * would be for an hour, and no client would get them.
   */
  static void clockOff(World world, Node node) {
    boolean ahead = world.random.nextBoolean();
    long by = world.spread(100_000, HOUR);
    node.crash(outage(world), !ahead || world.random.nextBoolean());
    node.setClock(ahead ? by : -by);
  }

  static void clockMended(World world, Node node) {
    long by = world.spread(100_000, HOUR);
    long back = outage(world);
    node.crash(back, true);
    node.setClock(-by);
    world.at(
        Faults.end(world, back - world.now() + world.spread(1_000, 2_000_000)),
        null,
        () -> node.jumpAhead(by));
  }

  private static long outage(World world) {
    return Faults.end(world, world.spread(SHORTEST_OUTAGE, LONGEST_OUTAGE));
  }
}
