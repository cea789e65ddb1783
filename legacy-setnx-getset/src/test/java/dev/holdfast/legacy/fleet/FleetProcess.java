package dev.holdfast.legacy.fleet;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A process of the fleet: acquires the lock, works briefly, and releases it, again and again. It
 * says {@link #READY}, then {@link #WANT} and {@link #GOT} for each lock. At the order {@link #DIE}
 * it says {@link #INSIDE} from within, and waits to be killed. It ends when its parent has gone.
 */
final class FleetProcess {
  static final String READY = "ready";
  static final String WANT = "want";
  static final String GOT = "got";
  static final String INSIDE = "inside";
  static final String DIE = "die";
  static final String STOP = "stop";

  static final String NAME = "job";
  static final String KEY_PREFIX = "lock.";
  static final Duration TTL = Duration.ofSeconds(1);
  private static final Duration HOLD = Duration.ofMillis(5);
  private static final int LONGEST_PAUSE_MILLIS = 20;

  private static final CountDownLatch DYING = new CountDownLatch(1);
  private static final CountDownLatch STOPPING = new CountDownLatch(1);

  private FleetProcess() {}

  /** The lock as this process knows it. */
  private interface Lock extends AutoCloseable {
    /** Waits for the lock, and returns until when it excludes others. Empty if stopped before. */
    OptionalLong lock() throws Exception;

    void unlock() throws Exception;

    @Override
    void close() throws IOException;
  }

  /**
   * Runs.
   *
   * @param arguments the kind, a name of its own, the folder of the critical section, the URLs of
   *     the old server, of the old lock and of the new one
   */
  public static void main(String[] arguments) throws Exception {
    Thread orders = new Thread(FleetProcess::hear, "orders");
    orders.setDaemon(true);
    orders.start();
    CriticalSection section = new CriticalSection(Path.of(arguments[2]), arguments[1]);
    try (Lock lock = lock(Kind.valueOf(arguments[0]), arguments)) {
      System.out.println(READY);
      do {
        System.out.println(WANT);
        OptionalLong until = lock.lock();
        if (until.isEmpty()) {
          return;
        }
        System.out.println(GOT);
        section.enter(until.getAsLong());
        if (DYING.await(HOLD.toMillis(), TimeUnit.MILLISECONDS)) {
          System.out.println(INSIDE);
          new CountDownLatch(1).await();
        }
        section.leave();
        lock.unlock();
      } while (!isStoppedWithin(ThreadLocalRandom.current().nextInt(LONGEST_PAUSE_MILLIS)));
    }
  }

  private static boolean isStoppedWithin(int withinMillis) throws InterruptedException {
    return STOPPING.await(withinMillis, TimeUnit.MILLISECONDS);
  }

  private static Lock lock(Kind kind, String[] arguments) throws IOException {
    if (kind.isOurs()) {
      return ours(
          LockManager.open(
              "migrate:" + kind.name().toLowerCase(Locale.ROOT),
              Map.of("from", arguments[4], "to", arguments[5], "retryDelay", "20ms")));
    }
    URI server = URI.create(arguments[3]);
    return old(
        new OldClient(
            server.getHost(), server.getPort(), KEY_PREFIX + NAME, (int) TTL.toSeconds()));
  }

  private static Lock old(OldClient client) {
    return new Lock() {
      @Override
      public OptionalLong lock() throws Exception {
        while (!client.lock()) {
          if (isStoppedWithin(ThreadLocalRandom.current().nextInt(10, 20))) {
            return OptionalLong.empty();
          }
        }
        return OptionalLong.of(client.until());
      }

      @Override
      public void unlock() throws Exception {
        client.unlock();
      }

      @Override
      public void close() throws IOException {
        client.close();
      }
    };
  }

  private static Lock ours(LockManager locks) {
    LockRequest request = LockRequest.of(NAME, TTL).waitAtMost(Duration.ofMinutes(1));
    return new Lock() {
      private Optional<Lease> held = Optional.empty();

      @Override
      public OptionalLong lock() throws Exception {
        while (held.isEmpty()) {
          try {
            held = locks.tryAcquire(request);
          } catch (LockOutageException outage) {
            // on a machine that stalls, the next attempt may do better
            if (isStoppedWithin(1)) {
              return OptionalLong.empty();
            }
          }
        }
        return OptionalLong.of(
            System.currentTimeMillis() + held.orElseThrow().remaining().toMillis());
      }

      @Override
      public void unlock() {
        held.orElseThrow().close();
        held = Optional.empty();
      }

      @Override
      public void close() {
        locks.close();
      }
    };
  }

  private static void hear() {
    try (BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        switch (order) {
          case DIE -> DYING.countDown();
          case STOP -> STOPPING.countDown();
          default -> throw new IOException("an order that there is not: " + order);
        }
      }
    } catch (IOException e) {
      // gone anyway
    }
    Runtime.getRuntime().halt(1);
  }
}
