package dev.holdfast.simulation;

import dev.holdfast.redlock.Command;
import dev.holdfast.redlock.Round;
import dev.holdfast.simulation.KeySpace.Entry;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bad luck that hardly ever comes by itself: while one client asks for a lock that another has at a
 * bare quorum of nodes, a node without it grants it and loses its data at once, a node of the
 * quorum is cut off from the holder, and the asker's messages to the quorum arrive when the key at
 * that node is over. If a vote of the holder's next extension counts that must not, both have the
 * lock.
 */
final class Ambush {
  private static final int PER_MILLE = 500;

  private final World world;
  private final Host asker;
  private final String key;

  private Ambush(World world, Host asker, String key) {
    this.world = world;
    this.asker = asker;
    this.key = key;
  }

  /** Before a round is sent. */
  static void mayBeLaid(World world, Host asker, Round round) {
    if (world.rates.ambushes
        && !world.isHealed()
        && round.command() instanceof Command.Eval eval
        && eval.keys().size() > 1
        && world.nodes.stream().allMatch(node -> node.storedBy(eval.arguments().get(0)) == null)
        && world.chance(PER_MILLE)) {
      new Ambush(world, asker, eval.keys().get(0)).lay();
    }
  }

  private void lay() {
    List<Node> quorum = world.nodes.stream().filter(node -> keyAt(node) != null).toList();
    if (quorum.size() != world.setting.quorum()) {
      return;
    }
    Node cut = quorum.get(world.random.nextInt(quorum.size()));
    Entry entry = Objects.requireNonNull(keyAt(cut));
    String token = String.valueOf(entry.value());
    Connection holders =
        Objects.requireNonNull(cut.storedBy(token)).connection().host().driver.present(cut.id());
    List<Node> others = world.nodes.stream().filter(node -> keyAt(node) == null).toList();
    if (holders == null || holders.host() == asker || others.isEmpty()) {
      return;
    }
    long over = world.now() + entry.expiresAt() * 1_000 - cut.micros() + 2_000;
    for (Node node : quorum) {
      Connection askers = asker.driver.present(node.id());
      if (askers != null) {
        askers.stall(Math.min(over, world.healing()));
      }
    }
    holders.resetIn(world.spread(100, 20_000));
    Node loser = others.get(world.random.nextInt(others.size()));
    long voted = Faults.end(world, world.spread(5_000, 50_000));
    world.at(voted, null, () -> ifItVoted(loser));
  }

  private @Nullable Entry keyAt(Node node) {
    return node.keys().get(key);
  }

  private void ifItVoted(Node node) {
    if (node.isUp() && !node.isQuarantined() && keyAt(node) != null) {
      node.flush();
    }
  }
}
