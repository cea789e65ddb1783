package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import java.util.List;

/** What keeps a node from granting a lock, what comes of it without a quorum, and how it ends. */
enum Fault {
  OCCUPIED(Outcome.CONTENDED, "") {
    @Override
    void begin(TestNode node, String name) {
      Cluster.occupy(node, name);
    }

    @Override
    void assertUntouched(TestNode node, String name) {
      assertThat(Cluster.value(node, name)).isEqualTo(Cluster.occupant(node));
      assertThat(Cluster.ttl(node, name)).isBetween(Cluster.TTL, Cluster.FOREIGN_TTL);
    }

    @Override
    void end(TestNode node, String name) {
      node.command("DEL", name);
    }
  },
  DEAD(Outcome.OUTAGE, "") {
    @Override
    void begin(TestNode node, String name) {
      node.kill();
    }

    @Override
    void end(TestNode node, String name) {
      node.restart();
    }
  },
  FROZEN(Outcome.OUTAGE, "no answer within") {
    @Override
    void begin(TestNode node, String name) {
      node.freeze();
    }

    @Override
    void end(TestNode node, String name) {
      node.thaw();
    }
  },
  NO_PASSWORD(Outcome.MISCONFIGURED, "NOAUTH") {
    @Override
    void begin(TestNode node, String name) {
      node.command("CONFIG", "SET", "requirepass", "right");
    }

    @Override
    void end(TestNode node, String name) {
      try (RawRedis connection = RawRedis.connect(node.host(), node.port())) {
        connection.call("AUTH", "right");
        connection.call("CONFIG", "SET", "requirepass", "");
      }
    }
  },
  WRONG_PASSWORD(Outcome.MISCONFIGURED, "WRONGPASS") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "resetpass", ">changed");
    }

    @Override
    void end(TestNode node, String name) {
      allow(node);
    }
  },
  NO_RIGHT_TO_KEY(Outcome.MISCONFIGURED, "NOPERM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "resetkeys", "~other:*");
    }

    @Override
    void end(TestNode node, String name) {
      allow(node);
    }
  },
  NO_RIGHT_TO_COMMAND(Outcome.MISCONFIGURED, "NOPERM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "-set");
    }

    @Override
    void end(TestNode node, String name) {
      allow(node);
    }
  },
  READ_ONLY(Outcome.MISCONFIGURED, "READONLY") {
    @Override
    void begin(TestNode node, String name) {
      node.command("REPLICAOF", node.host(), "1");
    }

    @Override
    void end(TestNode node, String name) {
      node.command("REPLICAOF", "NO", "ONE");
    }
  },
  OUT_OF_MEMORY(Outcome.OUTAGE, "OOM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("CONFIG", "SET", "maxmemory", "1");
    }

    @Override
    void end(TestNode node, String name) {
      node.command("CONFIG", "SET", "maxmemory", "0");
    }
  },
  WRONG_TYPE(Outcome.MISCONFIGURED, "no string") {
    @Override
    void begin(TestNode node, String name) {
      node.command("RPUSH", name, "a", "list");
      node.command("PEXPIRE", name, Long.toString(Cluster.FOREIGN_TTL.toMillis()));
    }

    @Override
    void assertUntouched(TestNode node, String name) {
      assertThat(node.command("LRANGE", name, "0", "-1")).isEqualTo(List.of("a", "list"));
      assertThat(Cluster.ttl(node, name)).isBetween(Cluster.TTL, Cluster.FOREIGN_TTL);
    }

    @Override
    void end(TestNode node, String name) {
      node.command("DEL", name);
    }
  };

  /** What an attempt comes to when too many nodes are at fault. */
  enum Outcome {
    CONTENDED,
    OUTAGE,
    MISCONFIGURED
  }

  private final Outcome outcome;
  private final String says;

  Fault(Outcome outcome, String says) {
    this.outcome = outcome;
    this.says = says;
  }

  abstract void begin(TestNode node, String name);

  abstract void end(TestNode node, String name);

  /** Of a foreign key, that nobody changed it. */
  void assertUntouched(TestNode node, String name) {
    throw new UnsupportedOperationException(this + " is no foreign key");
  }

  Outcome outcome() {
    return outcome;
  }

  /** What the error says of each node at fault. */
  String says() {
    return says;
  }

  /** Whether it is seen when a connection is made, and not by one that is there already. */
  boolean isSeenOnConnecting() {
    return this == NO_PASSWORD || this == WRONG_PASSWORD;
  }

  /** Whether a foreign key stands in the way, which nobody may touch. */
  boolean isForeignKey() {
    return this == OCCUPIED || this == WRONG_TYPE;
  }

  /** How the node is addressed. */
  String uri(TestNode node) {
    return switch (this) {
      case WRONG_PASSWORD, NO_RIGHT_TO_KEY, NO_RIGHT_TO_COMMAND ->
          "redis://app:right@" + node.address();
      default -> node.uri();
    };
  }

  /** Makes the user whom some of these faults take something from. */
  static void allow(TestNode node) {
    node.command("ACL", "SETUSER", "app", "reset", "on", ">right", "~*", "+@all");
  }
}
