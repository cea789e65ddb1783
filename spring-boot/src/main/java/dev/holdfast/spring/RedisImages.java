package dev.holdfast.spring;

import java.util.List;

/** The names of containers on which locks can be kept. */
final class RedisImages {
  /** The port of the server in each container. */
  static final int PORT = 6379;

  /**
   * The names of service connections. The last one is no image: Boot's own connections do not know
   * it, so that a server with this name keeps locks alone.
   */
  static final List<String> NAMES =
      List.of(
          "redis", "valkey/valkey", "redis/redis-stack", "redis/redis-stack-server", "holdfast");

  private RedisImages() {}
}
