package dev.holdfast.chaos;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * A process that shares locks with others: one thread for each, which takes it again and again. It
 * ends when its input does: when it gets the order, or its parent has gone.
 */
final class Client {
  /** How long it takes to end, at most: the longest wait, and then the longest hold. */
  private static final long ENDING_MILLIS = 10_000;

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** The time in which a client must start. */
  private static final Duration STARTING = Duration.ofMinutes(2);

  private static final int CRASHED = 3;

  private Client() {}

  /**
   * Runs.
   *
   * @param arguments a name of its own, the manager's URL, the journal, a seed, a file to make when
   *     it begins
   */
  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler(Client::crash);
    LostTime lostTime = LostTime.watched();
    Path path = Path.of(arguments[2]);
    RandomGenerator seeds = random(Long.parseLong(arguments[3]));
    List<Holder> holders = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try (LockManager locks = LockManager.open(arguments[1]);
        Journal journal = Journal.at(path)) {
      for (String name : Settings.NAMES) {
        Holder holder =
            new Holder(
                arguments[0],
                name,
                locks,
                new Notes(journal, new Journal.Reader(path), name, lostTime),
                random(seeds.nextLong()));
        holders.add(holder);
        threads.add(new Thread(holder, name));
      }
      warmUp(locks, arguments[0]);
      threads.forEach(Thread::start);
      Files.createFile(Path.of(arguments[4]));
      awaitEndOfInput();
      holders.forEach(Holder::end);
      for (Thread thread : threads) {
        thread.join(ENDING_MILLIS);
      }
    }
  }

  /** Connects and loads what a first lock needs, which takes seconds on a machine that is busy. */
  private static void warmUp(LockManager locks, String name) {
    LockRequest request = LockRequest.of(name, Settings.MAX_TTL).waitAtMost(PATIENCE);
    Eventually.within(STARTING)
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptionsInstanceOf(LockException.class) // not all is connected
        .until(
            () -> {
              try (Lease lease = locks.acquire(request)) {
                lease.extend(Settings.MAX_TTL);
                return true;
              }
            });
  }

  /** The process must not go on with fewer threads than it seems. */
  private static void crash(Thread thread, Throwable error) {
    error.printStackTrace();
    Runtime.getRuntime().halt(CRASHED);
  }

  static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  private static void awaitEndOfInput() throws IOException {
    while (System.in.read() >= 0) {
      // no reader answers
    }
  }
}
