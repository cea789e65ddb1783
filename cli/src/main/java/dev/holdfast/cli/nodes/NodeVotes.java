package dev.holdfast.cli.nodes;

import dev.holdfast.LockException;
import dev.holdfast.LockNode;
import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The local nodes that vote, for clients with default options.
 *
 * @param byAddress each node as such a client sees it, or none if none was asked
 */
record NodeVotes(Map<String, LockNode> byAddress) {
  /** Asks all nodes. */
  static NodeVotes of(TestNodes nodes) {
    try {
      return new NodeVotes(
          NodesStatus.of(LocalNodes.url(nodes)).nodes().stream()
              .collect(Collectors.toMap(LockNode::address, Function.identity())));
    } catch (LockException unknown) {
      return new NodeVotes(Map.of()); // whether they run is known anyway
    }
  }

  /**
   * Returns why a node that is up does not vote. Empty if it votes, or if the reason is unknown.
   */
  String whyNot(TestNode node) {
    LockNode seen = byAddress.get(node.address());
    if (seen == null || node.state() != TestNode.State.UP) {
      return "";
    }
    return seen.state() == LockNode.State.QUARANTINED
        ? LockState.printable(seen.cause()) + NodesStatus.votesAgain(seen, Instant.now())
        : "";
  }

  private boolean votes(TestNode node) {
    return node.state() == TestNode.State.UP && whyNot(node).isEmpty();
  }

  /** Returns the number of nodes that vote. */
  long votes(TestNodes nodes) {
    return nodes.all().stream().filter(this::votes).count();
  }
}
