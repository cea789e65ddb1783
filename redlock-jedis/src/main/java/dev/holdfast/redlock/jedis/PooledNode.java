package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.Round;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.Pool;

/**
 * A node that is reached through a pool of its user's. One thread of ours takes a connection,
 * writes all that is waiting, reads all replies, and gives the connection back; then it takes what
 * has come meanwhile. Only that thread waits when the node hangs or the pool is exhausted.
 */
final class PooledNode {
  /** How often a node that is asked nothing is greeted, to learn whether it is still there. */
  private static final long GREETING_MILLIS = 1_000;

  /**
   * The most bytes that are sent before all are answered: less than the smallest buffers of a
   * connection hold together, as a write that waits for a node that hangs has no timeout.
   */
  private static final int WINDOW_BYTES = 64 * 1024;

  /** The most bytes of a character in UTF-8. */
  private static final int MAX_PER_CHAR = 3;

  private final int node;
  private final Pool<Connection> pool;
  private final Duration limit;
  private final Runnable afterEnd;
  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, DriverThreads.named("holdfast-jedis-node"));
  private final Queue<Question> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean called = new AtomicBoolean();
  private volatile @Nullable Link present;
  private boolean used;

  /**
   * A round's command to one node.
   *
   * @param bytes how long it is at most
   */
  record Question(Round round, CommandArguments command, int bytes) {
    static Question of(Round round) {
      int chars = round.command().words().stream().mapToInt(String::length).sum();
      return new Question(round, Messages.arguments(round.command()), MAX_PER_CHAR * chars);
    }
  }

  /**
   * Connects nothing yet.
   *
   * @param limit for how long there may be no free connection, and the node may owe replies
   * @param afterEnd to be run on its thread when a connection to the node has ended
   */
  PooledNode(int node, Pool<Connection> pool, Duration limit, Runnable afterEnd) {
    this.node = node;
    this.pool = pool;
    this.limit = limit;
    this.afterEnd = afterEnd;
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** The node is connected when it has answered. */
  CompletableFuture<Void> connect(Runnable disconnected) {
    Link link = new Link(disconnected);
    present = link;
    inTurn(() -> open(link));
    return link.connected;
  }

  /** Disconnects without cutting short what is in flight: it ends within its limit. */
  void disconnect() {
    Link link = present;
    if (link != null) {
      link.connected.completeExceptionally(
          new JedisConnectionException("dropped while it was being connected"));
      inTurn(() -> end(link, new JedisConnectionException("the connection was dropped")));
    }
  }

  void enqueue(Question question) {
    waiting.add(question);
  }

  /** Answers at once if the thread is no more: not under a lock that others' answers may need. */
  void serveSoon() {
    if (called.compareAndSet(false, true)) {
      inTurn(this::serve);
    }
  }

  /**
   * Closes after sending what was submitted before. Returns whether there may be something to wait
   * for.
   */
  boolean close() {
    Link link = present;
    boolean wasUp = link != null && link.isUp();
    disconnect();
    thread.shutdown();
    return wasUp;
  }

  boolean isClosedWithin(long nanos) throws InterruptedException {
    return thread.awaitTermination(nanos, TimeUnit.NANOSECONDS);
  }

  /** At once if the thread is no more, as then nothing is connected. */
  private void inTurn(Runnable task) {
    try {
      thread.execute(task);
    } catch (RejectedExecutionException e) {
      Link link = present;
      if (link != null) {
        link.connected.completeExceptionally(
            new JedisConnectionException("the manager was closed"));
      }
      called.set(false);
      fail(waiting, Messages.notConnected());
    }
  }

  private void open(Link link) {
    if (link.connected.isDone()) {
      return; // it was dropped while it waited for its turn
    }
    try {
      greet(pool.getNumIdle());
      if (link.connected.complete(null)) {
        greetLater(link);
      } else {
        afterEnd.run();
      }
    } catch (RuntimeException e) {
      link.connected.completeExceptionally(Messages.reason(e));
    }
  }

  private void greetLater(Link link) {
    thread.schedule(() -> greetAgain(link), GREETING_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void greetAgain(Link link) {
    if (!link.isUp()) {
      return;
    }
    try {
      if (!used) {
        greet(0);
      }
      used = false;
      greetLater(link);
    } catch (RuntimeException e) {
      end(link, e);
    }
  }

  /** Connections that ended while they were idle in the pool say nothing of the node. */
  private void greet(int idle) {
    for (int stale = idle; ; stale--) {
      try (BorrowedConnection borrowed = BorrowedConnection.of(pool, limit)) {
        Messages.greet(borrowed.connection());
        return;
      } catch (JedisConnectionException e) {
        if (stale <= 0 || e.getCause() instanceof SocketTimeoutException) {
          throw e;
        }
      }
    }
  }

  private void serve() {
    called.set(false);
    for (Deque<Question> batch = take(); !batch.isEmpty(); batch = take()) {
      Link link = present;
      if (link == null || !link.isUp()) {
        fail(batch, Messages.notConnected());
      } else {
        serve(link, batch);
      }
    }
  }

  private void serve(Link link, Deque<Question> batch) {
    used = true;
    try (BorrowedConnection borrowed = BorrowedConnection.of(pool, limit)) {
      exchange(borrowed.connection(), batch);
    } catch (RuntimeException e) {
      fail(batch, Messages.reason(e));
      end(link, e);
    }
  }

  private void exchange(Connection connection, Deque<Question> batch) {
    try {
      batch.forEach(question -> connection.sendCommand(question.command()));
      while (!batch.isEmpty()) {
        answer(connection, batch);
      }
    } catch (RuntimeException e) {
      connection.setBroken(); // replies to us are still to come on it
      throw e;
    }
  }

  private void answer(Connection connection, Deque<Question> batch) {
    Object reply;
    try {
      reply = connection.getOne();
    } catch (JedisDataException e) {
      batch.remove().round().error(node, String.valueOf(e.getMessage()));
      return;
    }
    batch.remove().round().reply(node, Messages.reply(reply));
  }

  private Deque<Question> take() {
    Deque<Question> taken = new ArrayDeque<>();
    int bytes = 0;
    for (Question next = waiting.peek(); next != null; next = waiting.peek()) {
      bytes += next.bytes();
      if (!taken.isEmpty() && bytes > WINDOW_BYTES) {
        break;
      }
      taken.add(waiting.remove());
    }
    return taken;
  }

  private void end(Link link, Throwable cause) {
    if (link.isUp()) {
      link.ended = true;
      afterEnd.run();
      fail(waiting, Messages.reason(cause));
      link.disconnected.run();
    }
  }

  private void fail(Queue<Question> questions, Throwable reason) {
    Question question;
    while ((question = questions.poll()) != null) {
      question.round().failure(node, reason);
    }
  }

  /** From an attempt to connect to the first failure. */
  private static final class Link {
    final CompletableFuture<Void> connected = new CompletableFuture<>();
    final Runnable disconnected;
    volatile boolean ended;

    Link(Runnable disconnected) {
      this.disconnected = disconnected;
    }

    boolean isUp() {
      return connected.isDone() && !connected.isCompletedExceptionally() && !ended;
    }
  }
}
