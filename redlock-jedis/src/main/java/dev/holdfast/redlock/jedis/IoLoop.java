package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.Round;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * All connections, and their current owner: a caller that waits for its round, or else the loop's
 * own thread. The owner writes all rounds that are queued to all nodes, then reads until they are
 * decided. Replies that come later are left to the next owner.
 */
final class IoLoop {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  /** The longest time for which a caller does the work, before our thread goes on with it. */
  private static final long CALLER_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** The time after which our thread reads replies if there are no callers to do it. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** The interval at which our thread, when idle, looks for connections that have ended. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The size of a batch, so that it ends although callers go on. */
  private static final int MAX_AT_ONCE = 1_000;

  private final AtomicReferenceArray<@Nullable SocketConnection> connections;
  private final Queue<QueuedRound> queued = new ConcurrentLinkedQueue<>();
  private final Queue<SocketConnection> dropped = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean owned = new AtomicBoolean();

  /**
   * Set on a thread that is about to serve: its rounds wake no other thread. True once it has
   * submitted a round, because without one it would hold the loop for nothing.
   */
  private final ThreadLocal<@Nullable Boolean> lent = new ThreadLocal<>();

  private final Thread thread = DriverThreads.named("holdfast-jedis-io").newThread(this::run);
  private volatile boolean wanted;
  private volatile boolean asleep;
  private volatile boolean closing;
  private volatile boolean closed;
  private volatile long usedAt = System.nanoTime();

  // the owner's alone
  private final ArrayDeque<Round> open = new ArrayDeque<>();
  private int next;

  /**
   * Starts its thread.
   *
   * @param size of how many connections
   */
  IoLoop(int size) {
    this.connections = new AtomicReferenceArray<>(size);
    thread.start();
  }

  /** A round that must be sent, with its encoded command. */
  static final class QueuedRound {
    final Round round;
    final byte[] command;
    final int firstSlot;

    QueuedRound(Round round, int firstSlot) {
      this.round = round;
      this.firstSlot = firstSlot;
      this.command = round.command().encoded();
    }
  }

  /** Puts a new connection in the place of one that has ended. */
  void put(int slot, SocketConnection connection) {
    connections.set(slot, connection);
    if (closing) { // after it can be found: closing may have missed it
      connection.drop();
    }
  }

  /** Ends the connection in a slot, at once if it is still connecting, else as soon as possible. */
  void drop(int slot) {
    SocketConnection connection = connections.get(slot);
    if (connection != null) {
      connection.drop();
      dropped.add(connection);
      wake();
    }
  }

  /**
   * Queues a round.
   *
   * @param firstSlot the slot of the connection to node 0 on which it is sent, before the others
   */
  void submit(Round round, int firstSlot) {
    QueuedRound queuedRound = new QueuedRound(round, firstSlot);
    queued.add(queuedRound);
    if (closed) {
      failIfQueued(queuedRound); // and no other's, as our caller may hold a lock of its own
    } else if (lent.get() != null) {
      lent.set(true);
    } else if (!owned.get()) {
      wake();
    }
  }

  /**
   * Starts an operation, and goes on with its rounds on this thread until its result is there, for
   * {@link #CALLER_NANOS} at most.
   */
  <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    if (isVirtual(Thread.currentThread())) {
      return operation.get(); // an interrupt closes the socket that a virtual thread reads from
    }
    if (lent.get() != null) {
      CompletableFuture<T> inner = operation.get();
      wakeForQueued(); // its caller may wait before this thread serves
      return inner;
    }
    lent.set(false);
    try {
      CompletableFuture<T> result = operation.get();
      if (Boolean.TRUE.equals(lent.get()) && !result.isDone()) {
        serveFor(result);
      }
      return result;
    } finally {
      lent.set(null); // to remove it would cost an object for each call
      wakeForQueued();
    }
  }

  /** Checks the group that JEP 444 names, because JDK 17 has no {@code Thread.isVirtual}. */
  private static boolean isVirtual(Thread current) {
    return current.getThreadGroup().getName().equals("VirtualThreads");
  }

  private void wakeForQueued() {
    if (!owned.get() && hasWork()) {
      wake();
    }
  }

  private void serveFor(CompletableFuture<?> result) {
    long start = System.nanoTime();
    if (!owned.compareAndSet(false, true)) {
      return; // the owner sends what is queued
    }
    try {
      serve(() -> result.isDone() || System.nanoTime() - start >= CALLER_NANOS);
    } catch (RuntimeException | Error e) {
      logUndelivered(e); // our thread goes on
    } finally {
      leave();
    }
  }

  /**
   * Sends what was submitted before, and ends all connections. Waits for that at most 1 s, also on
   * an interrupted thread.
   */
  void close() {
    closing = true;
    wake();
    boolean wasInterrupted = Thread.interrupted();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      wasInterrupted = true;
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reports that a connection has ended, after its queued commands failed. For the owner. */
  void ended(Runnable disconnected) {
    for (int left = queued.size(); left > 0; left -= MAX_AT_ONCE) {
      write();
    }
    disconnected.run();
  }

  private void leave() {
    boolean more = !open.isEmpty();
    usedAt = System.nanoTime();
    owned.set(false);
    if (more || hasWork()) {
      wake();
    } else if (asleep) {
      LockSupport.unpark(thread); // replies may come that no caller waits for
    }
  }

  private boolean hasWork() {
    return !queued.isEmpty() || !dropped.isEmpty() || closing;
  }

  private void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  /**
   * Goes on until nothing is queued or undecided, or the owner has enough. A batch is decided
   * before the next is sent, as that makes batches large, unless there is nothing to read.
   */
  private void serve(BooleanSupplier enough) {
    boolean hasRead = false;
    while ((!queued.isEmpty() || !open.isEmpty()) && !enough.getAsBoolean()) {
      endDropped();
      if (!hasRead || open.isEmpty()) {
        write();
      }
      SocketConnection connection = nextToRead();
      if (connection == null) {
        open.clear(); // undecided rounds wait for queued ones, or for no reply to us
        if (queued.isEmpty()) {
          return;
        }
      }
      hasRead = connection != null && connection.read();
      open.removeIf(Round::isDecided);
    }
  }

  private void endDropped() {
    for (SocketConnection connection = dropped.poll();
        connection != null;
        connection = dropped.poll()) {
      connection.end(new JedisConnectionException("the connection was dropped"));
    }
  }

  private void write() {
    QueuedRound queuedRound;
    for (int i = 0; i < MAX_AT_ONCE && (queuedRound = queued.poll()) != null; i++) {
      send(queuedRound);
    }
    for (int slot = 0; slot < connections.length(); slot++) {
      SocketConnection connection = connections.get(slot);
      if (connection != null) {
        connection.flush();
      }
    }
  }

  private void send(QueuedRound queuedRound) {
    Round round = queuedRound.round;
    open.add(round);
    round.forEachNode(
        node -> {
          SocketConnection connection = connections.get(queuedRound.firstSlot + node);
          if (connection == null) {
            round.failure(node, Messages.notConnected());
          } else {
            connection.ask(queuedRound);
          }
        });
  }

  /**
   * Returns the connections in turn, so that each is read in time, and those that are late last.
   */
  private @Nullable SocketConnection nextToRead() {
    int late = -1;
    for (int i = 0; i < connections.length(); i++) {
      int slot = (next + i) % connections.length();
      SocketConnection connection = connections.get(slot);
      if (connection != null && connection.hasUnanswered()) {
        if (!connection.isLate()) {
          next = slot + 1;
          return connection;
        }
        late = late < 0 ? slot : late;
      }
    }
    next = late + 1;
    return late < 0 ? null : connections.get(late);
  }

  /** Does what no caller does, when there are none or one asks for it. */
  private void run() {
    while (!closed) {
      boolean isPending = true;
      if (wanted || System.nanoTime() - usedAt > TICK_NANOS) {
        wanted = false;
        isPending = attend();
      }
      asleep = !isPending && System.nanoTime() - usedAt > IDLE_NANOS;
      if (!wanted && !closed) {
        LockSupport.parkNanos(this, asleep ? IDLE_NANOS : TICK_NANOS);
      }
      asleep = false;
    }
  }

  /** Returns whether replies are pending. If the loop has an owner, that wakes us if needed. */
  private boolean attend() {
    if (!owned.compareAndSet(false, true)) {
      return true;
    }
    try {
      if (closing) {
        write();
        endDropped();
        end();
        return false;
      }
      serve(() -> false);
      endDropped();
      return look();
    } catch (RuntimeException | Error e) {
      logUndelivered(e);
      return true;
    } finally {
      owned.set(false);
      if (hasWork()) {
        wanted = true;
      }
    }
  }

  private static void logUndelivered(Throwable failure) {
    try {
      LOG.log(Level.ERROR, "an answer of a node could not be delivered", failure);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken: the loop serves other callers, and goes on
    }
  }

  /** Reads replies that no caller waits for, and finds connections that have ended. */
  private boolean look() {
    boolean isPending = false;
    boolean looked = false;
    for (int i = 0; i < connections.length(); i++) {
      SocketConnection connection = connections.get((next + i) % connections.length());
      if (connection == null || !connection.isUp()) {
        continue;
      }
      if (!connection.hasUnanswered() && !looked && connection.silentNanos() > IDLE_NANOS) {
        looked = true; // one at a time, since callers may be waiting for the loop
        connection.read();
      }
      while (connection.hasUnanswered() && connection.read()) {
        // until it has caught up or falls silent
      }
      isPending |= connection.hasUnanswered();
    }
    next = (next + 1) % connections.length();
    return isPending;
  }

  private void end() {
    for (int slot = 0; slot < connections.length(); slot++) {
      SocketConnection connection = connections.get(slot);
      if (connection != null) {
        connection.end(new JedisConnectionException("the manager was closed"));
      }
    }
    closed = true;
    List.copyOf(queued).forEach(this::failIfQueued);
  }

  private void failIfQueued(QueuedRound queuedRound) {
    if (queued.remove(queuedRound)) {
      Round round = queuedRound.round;
      round.forEachNode(node -> round.failure(node, Messages.notConnected()));
    }
  }
}
