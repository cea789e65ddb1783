package dev.holdfast.benchmarks;

import java.util.concurrent.atomic.AtomicLong;

/** The commands of the bare drivers. */
final class RawCommands {
  static final String RELEASE =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return"
          + " 0";

  private static final AtomicLong TOKENS = new AtomicLong();

  private RawCommands() {}

  /** Returns a value that no other caller gets, at the lowest cost. */
  static String token() {
    return Long.toString(TOKENS.incrementAndGet());
  }
}
