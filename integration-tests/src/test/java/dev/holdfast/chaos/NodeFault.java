package dev.holdfast.chaos;

import static dev.holdfast.chaos.Healing.BY_ITSELF;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;

/** A fault of any number of nodes, or of the network before them. */
@SuppressWarnings("ImmutableEnumChecker") // the effect of a fault changes the world, not the fault
enum NodeFault {
  FROZEN(
      victim -> {
        victim.node().freeze();
        return victim.node()::thaw;
      }),
  KILLED_AND_BACK_EMPTY(
      victim -> {
        victim.node().kill();
        return victim.node()::restart;
      }),
  RESTARTED_EMPTY(
      victim -> {
        victim.node().restart();
        return BY_ITSELF;
      }),
  KILLED_AND_BACK_WITH_ITS_DATA(
      victim -> {
        victim.node().command("SAVE");
        victim.node().kill();
        return victim.node()::restartWithData;
      }),
  RESTARTED_WITH_OLDER_DATA(
      victim -> {
        victim.node().command("SAVE");
        return victim.node()::restartWithData;
      }),
  FLUSHED(
      victim -> {
        victim.node().command("FLUSHALL");
        return BY_ITSELF;
      }),
  DATABASES_SWAPPED(
      victim -> {
        try (RawRedis connection = victim.connect()) {
          connection.call("SELECT", "1");
          connection.call("FLUSHDB"); // there and back is not promised
          connection.call("SWAPDB", "0", "1");
        }
        return BY_ITSELF;
      }),
  REPLICA_FOR_A_WHILE(
      victim -> {
        TestNodes masters = TestNodes.start(1);
        follow(victim.node(), masters.node(0));
        return () -> {
          victim.node().command("REPLICAOF", "NO", "ONE");
          masters.close();
        };
      }),
  REPLICA_PROMOTED(
      victim -> {
        TestNodes replicas = TestNodes.start(1);
        TestNode replica = replicas.node(0);
        follow(replica, victim.node());
        await(replica, "master_link_status:up");
        replica.command("REPLICAOF", "NO", "ONE");
        victim.proxy().leadTo(replica);
        return () -> {
          victim.node().command("FLUSHALL"); // it was away, and does not know what it missed
          victim.proxy().leadTo(victim.node());
          replicas.close();
        };
      }),
  READ_ONLY(
      victim -> {
        victim.node().command("REPLICAOF", victim.node().host(), "1");
        return () -> victim.node().command("REPLICAOF", "NO", "ONE");
      }),
  ALL_ITS_CLIENTS_PAUSED(
      victim -> {
        victim.node().command("CLIENT", "PAUSE", Integer.toString(victim.upTo(1_500)));
        return BY_ITSELF;
      }),
  ASLEEP(
      victim -> {
        victim.stall("DEBUG", "SLEEP", Double.toString(victim.upTo(1_500) / 1e3));
        return BY_ITSELF;
      }),
  BUSY_WITH_A_SCRIPT(
      victim -> {
        victim.node().command("CONFIG", "SET", "lua-time-limit", "50");
        victim.stall("EVAL", "while true do end", "0");
        return () -> victim.node().command("SCRIPT", "KILL");
      }),
  SCRIPTS_FLUSHED(
      victim -> {
        victim.node().command("SCRIPT", "FLUSH");
        return BY_ITSELF;
      }),
  OUT_OF_MEMORY(
      victim -> {
        victim.node().command("CONFIG", "SET", "maxmemory", "1");
        return () -> victim.node().command("CONFIG", "SET", "maxmemory", "0");
      }),
  RIGHT_TO_SCRIPTS_TAKEN(
      victim -> {
        victim.node().command("ACL", "SETUSER", "default", "-@scripting");
        return () -> victim.node().command("ACL", "SETUSER", "default", "+@all");
      }),
  RIGHT_TO_KEYS_TAKEN(
      victim -> {
        victim.node().command("ACL", "SETUSER", "default", "resetkeys", "~other:*");
        return () -> victim.node().command("ACL", "SETUSER", "default", "allkeys");
      }),
  PASSWORD_ASKED_FOR(victim -> byOneConnection(victim, "requirepass", "secret", "")),
  NO_MORE_CLIENTS(victim -> byOneConnection(victim, "maxclients", "1", "10000")),
  CONNECTIONS_KILLED(
      victim -> {
        victim.node().command("CLIENT", "KILL", "TYPE", "normal");
        return BY_ITSELF;
      }),
  IDLE_CONNECTIONS_CLOSED(
      victim -> {
        victim.node().command("CONFIG", "SET", "timeout", "1");
        return () -> victim.node().command("CONFIG", "SET", "timeout", "0");
      }),
  CLOCK_WRONG_AT_A_RESTART(
      victim -> {
        int seconds = victim.upTo(5) * (victim.random().nextBoolean() ? 1 : -1);
        restartAt(victim, Duration.ofSeconds(seconds));
        return () -> restartAt(victim, Duration.ZERO);
      }),

  CUT(
      victim -> {
        victim.proxy().cut();
        return BY_ITSELF;
      }),
  REFUSING(victim -> onItsWay(victim, NodeNetwork::refuse)),
  SWALLOWED(victim -> onItsWay(victim, NodeNetwork::swallow)),
  SLOW(victim -> onItsWay(victim, proxy -> proxy.delay(slowness(victim), slowness(victim)))),
  SLOW_TO_REPLY(victim -> onItsWay(victim, proxy -> proxy.delay(0, slowness(victim)))),
  THROTTLED(victim -> onItsWay(victim, proxy -> proxy.throttle(victim.upTo(20)))),
  REQUESTS_LOST(victim -> onItsWay(victim, NodeNetwork::loseRequests)),
  REPLIES_LOST(victim -> onItsWay(victim, NodeNetwork::loseReplies)),
  REPLIES_CUT_IN_HALF(victim -> onItsWay(victim, NodeNetwork::halveReplies));

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Deed deed;

  NodeFault(Deed deed) {
    this.deed = deed;
  }

  /** Begins a fault. */
  private interface Deed {
    Healing begin(Victim victim) throws Exception;
  }

  /** A fault of a proxy. */
  private interface Trouble {
    void on(NodeNetwork proxy);
  }

  Healing begin(Victim victim) throws Exception {
    return deed.begin(victim);
  }

  boolean needsShim() {
    return this == CLOCK_WRONG_AT_A_RESTART;
  }

  private static Healing onItsWay(Victim victim, Trouble trouble) {
    trouble.on(victim.proxy());
    return victim.proxy()::heal;
  }

  private static int slowness(Victim victim) {
    return 19 + victim.upTo(181);
  }

  /** Others cannot connect until it is healed, so that the connection has to be kept. */
  private static Healing byOneConnection(Victim victim, String parameter, String bad, String good) {
    RawRedis connection = victim.connect();
    connection.call("CONFIG", "SET", parameter, bad);
    connection.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    return () -> {
      try (connection) {
        connection.call("CONFIG", "SET", parameter, good);
      }
    };
  }

  private static void restartAt(Victim victim, Duration error) throws Exception {
    victim.node().kill();
    ClockShim.set(victim.clock(), error);
    victim.node().restart();
  }

  private static void follow(TestNode replica, TestNode master) {
    replica.command("REPLICAOF", master.host(), Integer.toString(master.port()));
  }

  private static void await(TestNode node, String state) {
    Eventually.within(PATIENCE)
        .alias(node + " is " + state)
        .until(() -> String.valueOf(node.command("INFO", "replication")).contains(state));
  }
}
