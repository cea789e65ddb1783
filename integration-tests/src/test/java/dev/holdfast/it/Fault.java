package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import java.util.List;
import java.util.function.BiConsumer;

/** A fault that makes a server answer with an error. */
@SuppressWarnings("ImmutableEnumChecker") // a fault changes a node, and not itself
enum Fault {
  NO_PASSWORD("NOAUTH", (node, name) -> node.command("CONFIG", "SET", "requirepass", "right")),
  WRONG_PASSWORD(
      "WRONGPASS", (node, name) -> node.command("ACL", "SETUSER", "app", "resetpass", ">changed")),
  NO_RIGHT_TO_KEY(
      "NOPERM", (node, name) -> node.command("ACL", "SETUSER", "app", "resetkeys", "~other:*")),
  NO_RIGHT_TO_COMMAND("NOPERM", (node, name) -> node.command("ACL", "SETUSER", "app", "-set")),
  READ_ONLY("READONLY", (node, name) -> node.command("REPLICAOF", node.host(), "1")),
  OUT_OF_MEMORY("OOM", (node, name) -> node.command("CONFIG", "SET", "maxmemory", "1")),
  WRONG_TYPE(
      "no string",
      (node, name) -> {
        node.command("RPUSH", name, "a", "list");
        node.command("PEXPIRE", name, Long.toString(Cluster.FOREIGN_TTL.toMillis()));
      }) {
    @Override
    void assertUntouched(TestNode node, String name) {
      assertThat(node.command("LRANGE", name, "0", "-1")).isEqualTo(List.of("a", "list"));
      assertThat(Cluster.ttl(node, name)).isBetween(Cluster.TTL, Cluster.FOREIGN_TTL);
    }
  };

  private final String says;
  private final BiConsumer<TestNode, String> deed;

  /**
   * Makes a fault.
   *
   * @param deed begins it at a node for the lock of a name
   */
  Fault(String says, BiConsumer<TestNode, String> deed) {
    this.says = says;
    this.deed = deed;
  }

  void begin(TestNode node, String name) {
    deed.accept(node, name);
  }

  /** Asserts that no client changed a foreign key. */
  void assertUntouched(TestNode node, String name) {}

  /** Returns the error's text for each node at fault. */
  String says() {
    return says;
  }

  /** Whether a person has to correct it. Otherwise it is an outage. */
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

  /** Makes the user whose rights some of these faults take. */
  static void allow(TestNode node) {
    node.command("ACL", "SETUSER", "app", "reset", "on", ">right", "~*", "+@all");
  }
}
