package dev.holdfast.tck.broken;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The managers are right, and the places where locks are kept are not. */
final class NodeFlaws {
  private NodeFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inNode(
            "nodes keep locks for ever",
            Set.of("ACQ-10", "ACQ-11"),
            () ->
                new FakeKeys() {
                  @Override
                  boolean isOver(Duration left, Duration ttl) {
                    return false;
                  }
                }),
        Flaw.inNode(
                "nodes give locks away at half their time",
                Set.of("ACQ-10", "ACQ-11"),
                () ->
                    new FakeKeys() {
                      @Override
                      boolean isOver(Duration left, Duration ttl) {
                        return left.compareTo(ttl.dividedBy(2)) < 0;
                      }
                    })
            .asVariation());
  }
}
