package dev.holdfast.tck.rules;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.util.List;

/** Faults of nodes, which end with the test at the latest. */
final class Faults {
  private Faults() {}

  /** Returns whether all nodes know a fault. */
  static boolean areKnown(TckFixture fixture, TckFault fault) {
    return fixture.nodes().stream().allMatch(node -> node.faults().contains(fault));
  }

  static void begin(TckFixture fixture, TckFault fault, TckNode node, String name) {
    fixture.begin(() -> node.begin(fault, name), () -> node.end(fault, name));
  }

  static void begin(TckFixture fixture, TckFault fault, List<TckNode> nodes, String name) {
    nodes.forEach(node -> begin(fixture, fault, node, name));
  }

  static void end(TckFault fault, List<TckNode> nodes, String name) {
    nodes.forEach(node -> node.end(fault, name));
  }

  /** Does something while there is a fault. */
  static void during(
      TckFixture fixture,
      TckFault fault,
      List<TckNode> nodes,
      String name,
      Eventually.Assertions act)
      throws Exception {
    begin(fixture, fault, nodes, name);
    try {
      act.run();
    } finally {
      end(fault, nodes, name);
    }
  }

  /** Does something while nodes answer nothing. */
  static void whileFrozen(TckFixture fixture, List<TckNode> nodes, Eventually.Assertions act)
      throws Exception {
    during(fixture, TckFault.FROZEN, nodes, "", act);
  }
}
