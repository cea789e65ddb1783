package dev.holdfast.tck.redis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import java.util.Map;

/** Reads the nodes that the kit can look at. */
final class NodeUris {
  private NodeUris() {}

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if the kit cannot talk to it
   */
  static RedisNodeUri parse(String text) {
    RedisNodeUri node;
    try {
      node = RedisNodeUri.only(LockUrl.parse("redlock:" + text, Map.of()));
    } catch (LockConfigurationException e) {
      throw new IllegalArgumentException("the kit cannot look at a node: " + e.getMessage(), e);
    }
    if (node.isTls()) {
      throw new IllegalArgumentException(
          "the kit looks at nodes by redis://[user[:password]@]host[:port][/db] only, not by "
              + node);
    }
    return node;
  }

  /** Returns who logs in to a node. */
  static String user(RedisNodeUri node) {
    return node.user() == null ? "default" : node.user();
  }
}
