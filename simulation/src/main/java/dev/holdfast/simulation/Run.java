package dev.holdfast.simulation;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** One history, from its seed. */
final class Run {
  /** Kept, because loggers without a strong reference forget their level. */
  private static final Logger QUIET = Logger.getLogger("dev.holdfast");

  static {
    QUIET.setLevel(Level.OFF);
  }

  private Run() {}

  /**
   * The result of a run.
   *
   * @param hash of all that happened
   * @param violation of the first invariant that was broken, if one was
   * @param excused overlaps that lost data makes possible
   * @param secondTrips grants whose fencing tokens had to be stored first
   * @param regressions fencing tokens that lost counters and clocks behind make possible
   * @param holdsKept holds that outlasted a node that lost its data and a quarantine
   * @param holdsCut holds that ended early, because a quorum of nodes had no key of them any more
   */
  record Result(
      long seed,
      Profile profile,
      long hash,
      long grants,
      long excused,
      long secondTrips,
      long regressions,
      long holdsKept,
      long holdsCut,
      Judge.@Nullable Violation violation) {}

  static Result of(long seed, Profile profile) {
    return of(seed, profile, new Trace(null), null);
  }

  static Result of(long seed, Profile profile, Trace trace, @Nullable Invariant only) {
    World world = new World(seed, profile, trace, only);
    world.note(Trace.NONE, Trace.NONE, "begins", 0, world.setting::toString);
    world.judge.begin();
    for (int client = 0; client < world.setting.clients(); client++) {
      addHost(world);
    }
    new Faults(world).plan();
    world.run();
    world.judge.end();
    return new Result(
        seed,
        profile,
        trace.hash(),
        world.judge.grants(),
        world.judge.excused(),
        world.judge.secondTrips(),
        world.judge.regressions(),
        world.judge.keptHolds.outlivedQuarantines(),
        world.judge.keptHolds.cutShort(),
        world.judge.violation());
  }

  static void addHost(World world) {
    Host host = new Host(world, world.hosts.size());
    world.hosts.add(host);
    host.workload().begin();
  }
}
