package dev.holdfast.redlock.lettuce;

import io.lettuce.core.RedisURI;

/** Nodes' names for messages: never with user or password. */
final class Addresses {
  private Addresses() {}

  static String of(RedisURI uri) {
    String server =
        uri.getSocket() != null
            ? uri.getSocket()
            : (uri.getHost().contains(":") ? "[" + uri.getHost() + "]" : uri.getHost())
                + ":"
                + uri.getPort();
    return uri.getDatabase() == 0 ? server : server + "/" + uri.getDatabase();
  }
}
