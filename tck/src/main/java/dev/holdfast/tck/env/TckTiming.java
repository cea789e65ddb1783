package dev.holdfast.tck.env;

import java.time.Duration;

/**
 * The times of a backend on the machine that runs the kit.
 *
 * @param ttl the ttl of locks that a test means to keep: longer than any test
 * @param shortTtl the ttl of locks whose end a test waits for: the shortest that a busy machine can
 *     hold
 * @param allowance the time that the machine may add to a measured time
 * @param soon how long the kit waits for what happens at once unless the machine is overloaded
 * @param limit how long one test may take at most
 */
public record TckTiming(
    Duration ttl, Duration shortTtl, Duration allowance, Duration soon, Duration limit) {
  /**
   * Returns the times for a backend in this process.
   *
   * @return with a short ttl of 300 ms
   */
  public static TckTiming local() {
    return new TckTiming(
        Duration.ofSeconds(30),
        Duration.ofMillis(300),
        Duration.ofMillis(500),
        Duration.ofSeconds(15),
        Duration.ofSeconds(60));
  }

  /**
   * Returns the times for a backend on servers of this machine.
   *
   * @return with a short ttl of 600 ms
   */
  public static TckTiming servers() {
    return new TckTiming(
        Duration.ofSeconds(30),
        Duration.ofMillis(600),
        Duration.ofMillis(500),
        Duration.ofSeconds(15),
        Duration.ofSeconds(100));
  }
}
