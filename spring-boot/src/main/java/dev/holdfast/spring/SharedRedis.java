package dev.holdfast.spring;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/**
 * The Redis server of {@code spring.data.redis} as the only node, with clients of the manager's
 * own: the application's client can send a command twice.
 */
final class SharedRedis implements HoldfastConnectionDetails {
  private static final Logger LOG = System.getLogger(HoldfastAutoConfiguration.class.getName());

  private final HoldfastNode node;

  SharedRedis(HoldfastNode node) {
    this.node = node;
  }

  @Override
  public List<HoldfastNode> getNodes() {
    return List.of(node);
  }

  void logRisk() {
    LOG.log(
        Level.INFO,
        "locks are kept on the one server of spring.data.redis, "
            + node
            + ": a crash of this server may lose locks; for locks that survive a crash, set"
            + " holdfast.url or holdfast.nodes to three servers");
  }
}
