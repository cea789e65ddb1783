package dev.holdfast.cli.nodes;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The local nodes that vote, for clients with default options.
 *
 * @param byAddress what the restart guard says of each node; empty where there is none
 */
record NodeVotes(Map<String, Node> byAddress) {
  /** Asks all nodes. */
  static NodeVotes of(TestNodes nodes) {
    Backend backend = new Backend(LocalNodes.url(nodes)).lazy();
    Logging.silence();
    try (LockManager locks = backend.open()) {
      return new NodeVotes(
          locks
              .unwrap(RestartGuardAdmin.class)
              .map(guard -> guard.nodes().stream())
              .map(all -> all.collect(Collectors.toMap(Node::address, Function.identity())))
              .orElse(Map.of()));
    } catch (LockException unknown) {
      return new NodeVotes(Map.of()); // whether they run is known anyway
    }
  }

  /** Returns why a node that is up does not vote; empty if it does, or nobody knows. */
  String whyNot(TestNode node) {
    Node seen = byAddress.get(node.address());
    if (seen == null || node.state() != TestNode.State.UP) {
      return "";
    }
    boolean waits = seen.state() == State.NEW || seen.state() == State.QUARANTINED;
    return waits ? LockState.printable(seen.text()) : "";
  }

  private boolean votes(TestNode node) {
    return node.state() == TestNode.State.UP && whyNot(node).isEmpty();
  }

  /** How many of them do. */
  long votes(TestNodes nodes) {
    return nodes.all().stream().filter(this::votes).count();
  }
}
