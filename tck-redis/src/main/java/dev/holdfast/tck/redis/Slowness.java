package dev.holdfast.tck.redis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.testnodes.NodeException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Pauses a server again and again: most requests are answered late, and all are answered. */
final class Slowness implements AutoCloseable {
  private static final String PAUSE_MILLIS = "120";

  /** From the beginning of one pause to that of the next: three quarters are pauses. */
  private static final long PERIOD_MILLIS = 160;

  private static final long LONGEST_CALL_MILLIS = 10_000;

  private static final Logger logger = System.getLogger(Slowness.class.getName());

  private final OwnConnection own;
  private @Nullable Pauses pauses;

  /** Pauses nothing yet. */
  Slowness(RedisNodeUri uri) {
    this.own = new OwnConnection(uri);
  }

  /** Returns when the first pause has begun. */
  synchronized void begin() {
    if (pauses == null) {
      pause();
      pauses = new Pauses();
    }
  }

  /** Returns when the last pause is over. */
  synchronized void end() {
    Pauses present = pauses;
    if (present != null) {
      pauses = null;
      present.end();
      own.call("PING");
    }
  }

  /** Ends the connection that this takes. */
  @Override
  public void close() {
    own.close();
  }

  private void pause() {
    own.call("CLIENT", "PAUSE", PAUSE_MILLIS);
  }

  private final class Pauses {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "holdfast-tck-slowness");

    Pauses() {
      thread.setDaemon(true);
      thread.start();
    }

    void end() {
      ended.countDown();
      try {
        thread.join(LONGEST_CALL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void run() {
      try {
        while (!ended.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
          try {
            pause();
          } catch (NodeException gone) {
            logger.log(Level.DEBUG, "cannot be paused now", gone);
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
