package dev.holdfast.redlock.lettuce;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** Daemons, so that a JVM can exit, by names that an operator knows. */
final class Threads {
  private Threads() {}

  static ThreadFactory named(String pool) {
    return new DefaultThreadFactory("holdfast-" + pool, true);
  }

  static ExecutorService sender() {
    return Executors.newSingleThreadExecutor(named("lettuce-sender"));
  }
}
