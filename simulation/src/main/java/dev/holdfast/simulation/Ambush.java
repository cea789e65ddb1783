package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.simulation.KeySpace.Entry;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bad luck that hardly ever comes by itself: while one client asks for a lock that another has, or
 * is about to have, at a bare quorum of nodes, a node of that quorum is cut off from the holder,
 * and the asker's message to it arrives when the key there is over. If a reply counts for the
 * holder that must not, both have the lock, or the fencing token of the second is the smaller one.
 *
 * <p>With the restart guard, a node without the key also grants it to the asker and loses its data
 * at once. The holder's extension must not count on it.
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

  /** Lays an ambush, perhaps. Called before a round is sent. */
  static void mayBeLaid(World world, Host sender, Round round) {
    if (!world.rates.ambushes
        || world.isHealed()
        || !(round.command() instanceof Command.Eval eval)
        || eval.keys().size() < 2) {
      return;
    }
    String token = eval.arguments().get(0);
    Ambush ambush = new Ambush(world, sender, eval.keys().get(0));
    if (world.nodes.stream().allMatch(node -> node.storedBy(token) == null)) {
      if (world.chance(PER_MILLE)) {
        ambush.lay();
      }
    } else if (!world.setting.guard() && world.chance(PER_MILLE)) {
      ambush.wake(token);
    }
  }

  /** Returns the nodes that have the key if they are a bare quorum, and no node otherwise. */
  private List<Node> quorum() {
    List<Node> quorum = world.nodes.stream().filter(node -> keyAt(node) != null).toList();
    return quorum.size() == world.setting.quorum() ? quorum : List.of();
  }

  private void lay() {
    List<Node> quorum = quorum();
    if (quorum.isEmpty()) {
      return;
    }
    Node cut = cut(quorum);
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
        boolean inTime = world.setting.guard() || node == cut;
        long until = over + (inTime ? 0 : world.setting.nodeTimeoutMillis() * 1_000L);
        askers.stall(Math.min(until, world.healing()));
      }
    }
    holders.resetIn(world.spread(100, 20_000));
    if (!world.setting.guard()) {
      return;
    }
    Node loser = others.get(world.random.nextInt(others.size()));
    long voted = Faults.end(world, world.spread(5_000, 50_000));
    world.at(voted, null, () -> ifItVoted(loser));
  }

  /**
   * Returns the node to cut off. Without the restart guard this is the node whose counter is behind
   * those of the others, so that the counter misses the next value.
   */
  private Node cut(List<Node> quorum) {
    return world.setting.guard()
        ? quorum.get(world.random.nextInt(quorum.size()))
        : quorum.stream().min(Comparator.comparingLong(node -> node.counter(key))).orElseThrow();
  }

  /**
   * Wakes another client before a fencing token is stored. Its attempt reaches the free nodes
   * first, while one node of the quorum cannot be reached.
   */
  private void wake(String token) {
    List<Node> quorum = quorum();
    List<Host> others = world.hosts.stream().filter(h -> h != asker && h.isAlive()).toList();
    if (quorum.isEmpty() || others.isEmpty() || !quorum.stream().allMatch(n -> has(n, token))) {
      return;
    }
    Node cut = cut(quorum);
    for (Node node : world.nodes) {
      Connection connection = asker.driver.present(node.id());
      if (connection != null && node == cut) {
        connection.silence();
        connection.resetIn(world.spread(100, 20_000));
      } else if (connection != null && !quorum.contains(node)) {
        connection.stall(Faults.end(world, world.spread(5_000, 50_000)));
      }
    }
    Host other = others.get(world.random.nextInt(others.size()));
    world.at(world.now(), other, () -> other.workload().askFor(key));
  }

  private boolean has(Node node, String token) {
    Entry entry = keyAt(node);
    return entry != null && token.equals(entry.value());
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
