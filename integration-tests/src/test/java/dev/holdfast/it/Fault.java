package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import java.util.List;

/** A fault that makes a server answer with an error. */
enum Fault {
  NO_PASSWORD("NOAUTH") {
    @Override
    void begin(TestNode node, String name) {
      node.command("CONFIG", "SET", "requirepass", "right");
    }
  },
  WRONG_PASSWORD("WRONGPASS") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "resetpass", ">changed");
    }
  },
  NO_RIGHT_TO_KEY("NOPERM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "resetkeys", "~other:*");
    }
  },
  NO_RIGHT_TO_COMMAND("NOPERM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("ACL", "SETUSER", "app", "-set");
    }
  },
  READ_ONLY("READONLY") {
    @Override
    void begin(TestNode node, String name) {
      node.command("REPLICAOF", node.host(), "1");
    }
  },
  OUT_OF_MEMORY("OOM") {
    @Override
    void begin(TestNode node, String name) {
      node.command("CONFIG", "SET", "maxmemory", "1");
    }
  },
  WRONG_TYPE("no string") {
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
  };

  private final String says;

  Fault(String says) {
    this.says = says;
  }

  abstract void begin(TestNode node, String name);

  /** Asserts that no client changed a foreign key. */
  void assertUntouched(TestNode node, String name) {}

  /** Returns the error's text for each node at fault. */
  String says() {
    return says;
  }

  /** Whether a person has to mend it; otherwise it is an outage. */
  boolean isMistake() {
    return this != OUT_OF_MEMORY;
  }

  /** Whether it is seen when a connection is made, and not by one that is there already. */
  boolean isSeenOnConnecting() {
    return this == NO_PASSWORD || this == WRONG_PASSWORD;
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
