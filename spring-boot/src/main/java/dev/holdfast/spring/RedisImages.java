package dev.holdfast.spring;

import java.util.List;

/** The images of containers on which locks can be kept. */
final class RedisImages {
  /** The port of the server in each container. */
  static final int PORT = 6379;

  static final List<String> NAMES =
      List.of("redis", "valkey/valkey", "redis/redis-stack", "redis/redis-stack-server");

  private RedisImages() {}
}
