package dev.holdfast.redlock.redisson;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;

/** Daemons, so that a JVM can exit, by names that an operator knows. */
final class Threads {
  private Threads() {}

  static ThreadFactory named(String pool) {
    return new DefaultThreadFactory("holdfast-redisson-" + pool, true);
  }
}
