package dev.holdfast.core;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts the operations that are to be waited for, so that closing can wait for the last; and those
 * that the backend is asked for, so that it is not asked for more than it answers in time.
 */
final class Operations {
  /**
   * More at once make nothing faster, and each of them slower: by docs/performance.md a hundred
   * keep two processors busy, and few networks need more to be filled.
   */
  static final int ENOUGH = 256;

  private final AtomicInteger underWay = new AtomicInteger();
  private volatile CompletableFuture<Void> quiet = CompletableFuture.completedFuture(null);

  private final AtomicInteger asked = new AtomicInteger();
  private final Queue<Runnable> ofHolders = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> attempts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger turns = new AtomicInteger();

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

  /** Whether it may be asked now. */
  boolean haveRoom() {
    return asked.get() < ENOUGH;
  }

  /** Has an attempt made when others were answered, in the order in which they came. */
  void attemptWhenRoom(Runnable attempt) {
    attempts.add(attempt);
    admit();
  }

  /** The same for a holder's operation: they come before all attempts. */
  void whenRoom(Runnable operation) {
    ofHolders.add(operation);
    admit();
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
      while (haveRoom() && (next = next()) != null) {
        next.run();
      }
    } while (turns.addAndGet(-seen) > 0);
  }

  private @Nullable Runnable next() {
    Runnable first = ofHolders.poll();
    return first != null ? first : attempts.poll();
  }
}
