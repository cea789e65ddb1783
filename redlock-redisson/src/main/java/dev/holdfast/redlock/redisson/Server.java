package dev.holdfast.redlock.redisson;

import java.util.Optional;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClient;

/** One node, and how to reach it. */
interface Server {
  /** For messages: never with user or password. */
  String address();

  /**
   * Makes a client for one attempt to connect, so that each looks the name up anew. It has no
   * threads of its own, and need not be closed. Does not block.
   */
  RedisClient newClient();

  /** The client of the user's by which the node is reached, if it is one. */
  Optional<RedissonClient> yours();
}
