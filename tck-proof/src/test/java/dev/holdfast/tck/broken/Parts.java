package dev.holdfast.tck.broken;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The parts of managers over fake nodes. Each part can be got wrong while the others are right.
 *
 * @param keys the place of a node's locks
 * @param time the clock as managers see it
 * @param connections to one node each
 * @param rounds the part that asks all nodes
 * @param primitives the part that attempts, extends and releases
 * @param settings how the core is set
 * @param managers the user's manager, made from a right one
 */
record Parts(
    Supplier<FakeKeys> keys,
    UnaryOperator<Clock> time,
    Connections connections,
    Rounds rounds,
    Primitives primitives,
    Consumer<LockManagerBuilder> settings,
    Function<Supplier<LockManager>, LockManager> managers) {

  static final Parts RIGHT =
      new Parts(
          FakeKeys::new,
          UnaryOperator.identity(),
          Member::new,
          Members::new,
          SmallRedlock::new,
          builder -> {},
          Supplier::get);

  /** Can transfer as well. Most flaws are in managers that cannot, whose tests are fewer. */
  static final Parts TRANSFERRING = RIGHT.withPrimitives(TransferringRedlock::new);

  /** Makes a connection. */
  interface Connections {
    Member of(String uri, Way way, Scheduler network);
  }

  /** Makes what asks all nodes. */
  interface Rounds {
    Members of(List<Member> all, Scheduler network, Duration connectTimeout);
  }

  /** Makes a primitive. */
  interface Primitives {
    LockPrimitive of(Members members, Clock clock, Timeouts timeouts);
  }

  Parts withConnections(Connections other) {
    return new Parts(keys, time, other, rounds, primitives, settings, managers);
  }

  Parts withRounds(Rounds other) {
    return new Parts(keys, time, connections, other, primitives, settings, managers);
  }

  Parts withPrimitives(Primitives other) {
    return new Parts(keys, time, connections, rounds, other, settings, managers);
  }

  Parts withKeys(Supplier<FakeKeys> other) {
    return new Parts(other, time, connections, rounds, primitives, settings, managers);
  }

  Parts withTime(UnaryOperator<Clock> other) {
    return new Parts(keys, other, connections, rounds, primitives, settings, managers);
  }

  Parts withSettings(Consumer<LockManagerBuilder> other) {
    return new Parts(keys, time, connections, rounds, primitives, other, managers);
  }

  Parts withManagers(Function<Supplier<LockManager>, LockManager> other) {
    return new Parts(keys, time, connections, rounds, primitives, settings, other);
  }
}
