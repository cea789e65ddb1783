package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.Round;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * All connections, and whoever owns them for the moment: a caller that waits for its round, or else
 * a thread of ours. The owner writes all rounds that are queued to all nodes, then reads until they
 * are decided; replies that come later are left to the next owner.
 */
final class Lane {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  /** How long a caller does the work at most, before our thread goes on with it. */
  private static final long CALLER_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** How soon replies that nobody waits for are read when there are no callers to do it. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** How often a node that let others wait is read while there are others. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** How often our thread looks when nothing happens: for a connection that has ended. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** So that a batch has an end though callers go on. */
  private static final int MOST_AT_ONCE = 1_000;

  private final AtomicReferenceArray<@Nullable Wire> wires;
  private final Queue<Request> queued = new ConcurrentLinkedQueue<>();
  private final Queue<Wire> dropped = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean owned = new AtomicBoolean();
  private final Thread thread = Threads.daemon("io", this::run);
  private volatile boolean wanted;
  private volatile boolean asleep;
  private volatile boolean closing;
  private volatile boolean closed;
  private volatile long usedAt = System.nanoTime();

  // the owner's alone
  private final ArrayDeque<Round> open = new ArrayDeque<>();
  private int next;
  private long lateReadAt = System.nanoTime();

  /**
   * Starts its thread.
   *
   * @param size of how many connections
   */
  Lane(int size) {
    this.wires = new AtomicReferenceArray<>(size);
    thread.start();
  }

  boolean isClosing() {
    return closing;
  }

  /** Puts a connection, or an attempt at one, in the place of one that has ended. */
  void put(int node, Wire wire) {
    wires.set(node, wire);
  }

  /** Ends what is in a place; at once if it is an attempt, else as soon as may be. */
  void drop(int node) {
    Wire wire = wires.get(node);
    if (wire != null) {
      wire.drop();
      dropped.add(wire);
      wake();
    }
  }

  /** Blocks if it may, for {@link #CALLER_NANOS} at most. */
  void submit(Round round) {
    Request request = new Request(round);
    queued.add(request);
    boolean may = round.callerWaits() && Threads.mayUseSockets(Thread.currentThread());
    if (may && owned.compareAndSet(false, true)) {
      try {
        serve(round);
      } finally {
        leave();
      }
    } else if (closed) {
      failIfQueued(request); // and no other's, as our caller may hold a lock of its own
    } else if (!owned.get()) {
      wake();
    }
  }

  /** Sends what was submitted before, and ends all connections; waits for that at most 1 s. */
  void close() {
    closing = true;
    wake();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** For the owner: tells that a connection has ended, after what is still queued for it failed. */
  void ended(Runnable disconnected) {
    write();
    disconnected.run();
  }

  private void leave() {
    boolean more = !open.isEmpty();
    usedAt = System.nanoTime();
    owned.set(false);
    if (more || hasWork()) {
      wake();
    } else if (asleep) {
      LockSupport.unpark(thread); // there may be replies to come that nobody waits for
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
   * Goes on until a round is decided, or else until nothing is queued or undecided. A batch is
   * decided before the next is sent, as that makes batches large, unless there is nothing to read.
   */
  private void serve(@Nullable Round own) {
    long start = System.nanoTime();
    boolean heard = false;
    while (own == null
        ? !queued.isEmpty() || !open.isEmpty()
        : !own.decided() && System.nanoTime() - start < CALLER_NANOS) {
      endDropped();
      if (!heard || open.isEmpty()) {
        write();
      }
      Wire wire = nextToRead();
      if (wire == null) {
        open.clear(); // what is undecided waits for what is queued, or for nothing of ours
        if (queued.isEmpty()) {
          return;
        }
      }
      heard = wire != null && wire.read();
      open.removeIf(Round::decided);
    }
  }

  private void endDropped() {
    for (Wire wire = dropped.poll(); wire != null; wire = dropped.poll()) {
      wire.end(new JedisConnectionException("the connection was dropped"));
    }
  }

  private void write() {
    Request request;
    for (int i = 0; i < MOST_AT_ONCE && (request = queued.poll()) != null; i++) {
      Request sent = request;
      open.add(sent.round);
      sent.round.forEachNode(
          node -> {
            Wire wire = wires.get(node);
            if (wire == null || !wire.ask(sent)) {
              sent.round.failure(node, Messages.notConnected());
            }
          });
    }
    for (int node = 0; node < wires.length(); node++) {
      Wire wire = wires.get(node);
      if (wire != null) {
        wire.flush();
      }
    }
  }

  /** In turn, so that each is read in time; those that let us wait come last, and now and then. */
  private @Nullable Wire nextToRead() {
    long now = System.nanoTime();
    boolean lateFirst = now - lateReadAt > LATE_NANOS;
    if (lateFirst) {
      lateReadAt = now;
    }
    Wire first = nextThatOwes(lateFirst);
    return first != null ? first : nextThatOwes(!lateFirst);
  }

  private @Nullable Wire nextThatOwes(boolean late) {
    for (int i = 0; i < wires.length(); i++) {
      int node = (next + i) % wires.length();
      Wire wire = wires.get(node);
      if (wire != null && wire.owes() && wire.isLate() == late) {
        next = node + 1;
        return wire;
      }
    }
    return null;
  }

  /** Does what no caller does, when there are none or one asks for it. */
  private void run() {
    while (!closed) {
      boolean owed = true;
      if (wanted || System.nanoTime() - usedAt > TICK_NANOS) {
        wanted = false;
        owed = attend();
      }
      asleep = !owed && System.nanoTime() - usedAt > IDLE_NANOS;
      if (!wanted && !closed) {
        LockSupport.parkNanos(this, asleep ? IDLE_NANOS : TICK_NANOS);
      }
      asleep = false;
    }
  }

  /** Returns whether replies are to come. If the lane is owned, its owner wakes us if need be. */
  private boolean attend() {
    if (!owned.compareAndSet(false, true)) {
      return true;
    }
    try {
      if (closing) {
        write();
        end();
        return false;
      }
      serve(null);
      endDropped();
      return look();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "what a node answered could not be told", e);
      return true;
    } finally {
      owned.set(false);
      wanted |= hasWork();
    }
  }

  /** Reads what nobody waits for, and finds connections that have ended. */
  private boolean look() {
    boolean owed = false;
    boolean looked = false;
    for (int i = 0; i < wires.length(); i++) {
      Wire wire = wires.get((next + i) % wires.length());
      if (wire == null || !wire.isUp()) {
        continue;
      }
      if (!wire.owes() && !looked && wire.silentNanos() > IDLE_NANOS) {
        looked = true; // one at a time, since callers may be waiting for the lane
        wire.read();
      }
      while (wire.owes() && wire.read()) {
        // until it has caught up or falls silent
      }
      owed |= wire.owes();
    }
    next = (next + 1) % wires.length();
    return owed;
  }

  private void end() {
    for (int node = 0; node < wires.length(); node++) {
      Wire wire = wires.get(node);
      if (wire != null) {
        wire.end(new JedisConnectionException("the manager was closed"));
      }
    }
    closed = true;
    List.copyOf(queued).forEach(this::failIfQueued);
  }

  private void failIfQueued(Request request) {
    if (queued.remove(request)) {
      Round round = request.round;
      round.forEachNode(node -> round.failure(node, Messages.notConnected()));
    }
  }
}
