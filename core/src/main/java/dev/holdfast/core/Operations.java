package dev.holdfast.core;

import dev.holdfast.LockManager;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts the operations that are to be waited for, so that closing can wait for the last; and those
 * that the backend is asked for, so that it is not asked for more than it answers in time. The
 * second number is a goal: threads that come at the same moment may exceed it by one each.
 */
final class Operations {
  /**
   * More at once make nothing faster, and each of them slower: by docs/performance.md a hundred
   * keep two processors busy, and few networks need more to be filled.
   */
  static final int ENOUGH = 256;

  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  private final Scheduler scheduler;
  private final AtomicInteger underWay = new AtomicInteger();
  private volatile CompletableFuture<Void> quiet = CompletableFuture.completedFuture(null);

  private final AtomicInteger asked = new AtomicInteger();
  private final Queue<Runnable> ofHolders = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> attempts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger turns = new AtomicInteger();

  Operations(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** One more is to be waited for. */
  void begin() {
    underWay.incrementAndGet();
  }

  void end() {
    if (underWay.decrementAndGet() == 0) {
      quiet.complete(null);
    }
  }

  /** Completes when no operation is under way. To be called once no new one can begin. */
  CompletableFuture<Void> quiet() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    quiet = future;
    if (underWay.get() == 0) {
      future.complete(null);
    }
    return future;
  }

  /** The backend is asked. */
  void ask() {
    asked.incrementAndGet();
  }

  void answered() {
    asked.decrementAndGet();
    if (!ofHolders.isEmpty() || !attempts.isEmpty()) {
      admit();
    }
  }

  /** Whether a holder's operation may begin now. Nobody overtakes those who were told to wait. */
  boolean haveRoom() {
    return isRoom() && ofHolders.isEmpty();
  }

  /** Whether an attempt may begin now: after all operations of holders. */
  boolean haveRoomForAttempts() {
    return haveRoom() && attempts.isEmpty();
  }

  /** Has a holder's operation begin when others were answered, in the order in which they came. */
  void whenRoom(Runnable operation) {
    enqueue(ofHolders, operation);
  }

  /** The same for an attempt. */
  void attemptWhenRoom(Runnable attempt) {
    enqueue(attempts, attempt);
  }

  /** On a thread of ours if need be: who is told to wait does not begin what others wait for. */
  private void enqueue(Queue<Runnable> queue, Runnable beginning) {
    queue.add(beginning);
    if (isRoom()) {
      scheduler.schedule(0, this::admit);
    }
  }

  /** One thread at a time. Operations that end at once are a loop, not a deep stack. */
  private void admit() {
    if (turns.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = turns.get();
      @Nullable Runnable next;
      while (isRoom() && (next = next()) != null) {
        begin(next);
      }
    } while (turns.addAndGet(-seen) > 0);
  }

  private static void begin(Runnable next) {
    try {
      next.run();
    } catch (RuntimeException | Error e) {
      report(e);
    }
  }

  /** Drops what the user's logger throws: {@link #admit} would never run again. */
  private static void report(Throwable failure) {
    try {
      LOG.log(Level.ERROR, "an operation could not begin", failure);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken; there is no other place to report to
    }
  }

  private boolean isRoom() {
    return asked.get() < ENOUGH;
  }

  private @Nullable Runnable next() {
    Runnable first = ofHolders.poll();
    return first != null ? first : attempts.poll();
  }
}
