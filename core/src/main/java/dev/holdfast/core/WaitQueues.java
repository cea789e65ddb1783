package dev.holdfast.core;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockPrimitive.Watch;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One wait queue for each name. Only the head of a queue talks to the backend, so a thousand
 * waiters cost as much as one, and waiters are served first in, first out. Safe for use by many
 * threads.
 */
final class WaitQueues {
  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  private final ConcurrentHashMap<String, WaitQueue> queues = new ConcurrentHashMap<>();

  /** The position of a waiter that has entered a queue. */
  enum Position {
    HEAD,
    BEHIND
  }

  /**
   * Enters the queue of the waiter's name. A waiter that does not wait enters an empty one only.
   */
  Position enter(Waiter waiter) {
    WaitQueue entered =
        queues.compute(
            waiter.name(),
            (name, queue) -> {
              if (queue == null) {
                return new WaitQueue(waiter);
              }
              if (waiter.waits()) {
                queue.behind().add(waiter);
              }
              return queue;
            });
    return entered.head == waiter ? Position.HEAD : Position.BEHIND;
  }

  /** Leaves the queue from any position. If the head leaves, the next waiter becomes the head. */
  void leave(Waiter waiter) {
    @Nullable WaitQueue[] leftByHead = {null};
    WaitQueue present =
        queues.computeIfPresent(
            waiter.name(),
            (name, queue) -> {
              if (queue.head != waiter) {
                queue.behind().remove(waiter);
                return queue;
              }
              leftByHead[0] = queue;
              return queue.advance() ? queue : null;
            });
    WaitQueue own = leftByHead[0];
    if (own != null && present != null) {
      own.notifyHead();
    } else if (own != null) {
      own.unsubscribe();
    }
  }

  /** Subscribes the queue to releases by other managers until the queue is empty. Never throws. */
  void subscribe(String name, LockPrimitive primitive) {
    WaitQueue queue = queues.get(name);
    if (queue == null) {
      return;
    }
    try {
      queue.subscribe(() -> primitive.watch(name, () -> onReleaseNotified(name)));
    } catch (RuntimeException | Error e) {
      LOG.log(
          Level.WARNING,
          "no release notifications for '" + name + "': its waiters poll every retryDelay",
          e);
    }
  }

  private void onReleaseNotified(String name) {
    WaitQueue queue = queues.get(name);
    if (queue != null) {
      queue.head.onReleaseNotified();
    }
  }

  /** Wakes the head of a queue because the lock may be free. */
  void wake(String name, int consecutiveHandoffs) {
    WaitQueue queue = queues.get(name);
    if (queue != null) {
      queue.head.wake(consecutiveHandoffs);
    }
  }

  /**
   * Lets waiters of other managers have an attempt before the head of a queue.
   *
   * @param others how many other managers wait, if known
   */
  void yieldTo(String name, int others) {
    WaitQueue queue = queues.get(name);
    if (queue != null) {
      queue.head.yieldTo(others);
    }
  }

  /** Returns the head of a queue, if it backs off, for an attempt that the caller must start. */
  @Nullable Waiter claimHead(String name) {
    WaitQueue queue = queues.get(name);
    if (queue == null) {
      return null;
    }
    Waiter head = queue.head;
    return head.claim() ? head : null;
  }

  /** Notes why the head's last attempt failed. The waiters behind it report the same. */
  void remember(String name, AttemptFailure failure) {
    WaitQueue queue = queues.get(name);
    if (queue != null) {
      queue.lastFailure = failure;
    }
  }

  /**
   * Returns why the last attempt of a queue's head failed.
   *
   * @param waited whether to prefer the outage that the head's attempt in flight is in so far
   * @return null if no attempt has failed
   */
  @Nullable AttemptFailure lastFailure(String name, boolean waited) {
    WaitQueue queue = queues.get(name);
    if (queue == null) {
      return null;
    }
    LockException soFar = waited ? queue.head.outageSoFar() : null;
    return soFar == null ? queue.lastFailure : new AttemptFailure.Outage(soFar);
  }

  /** Returns all waiters, each head after the waiters behind it. */
  List<Waiter> all() {
    List<Waiter> all = new ArrayList<>();
    for (String name : queues.keySet()) {
      queues.computeIfPresent(
          name,
          (key, queue) -> {
            all.addAll(queue.behind());
            all.add(queue.head);
            return queue;
          });
    }
    return all;
  }

  /**
   * Its waiters change inside the map's own atomic operations only. The head is read outside of
   * them. The subscription is guarded by the queue's monitor.
   */
  private static final class WaitQueue {
    private volatile Waiter head;
    private volatile @Nullable AttemptFailure lastFailure;
    private final AtomicInteger newHeads = new AtomicInteger();
    private @Nullable Watch subscription;
    private boolean closed;
    private @Nullable Set<Waiter> behind;

    WaitQueue(Waiter head) {
      this.head = head;
    }

    Set<Waiter> behind() {
      Set<Waiter> present = behind;
      if (present == null) {
        present = new LinkedHashSet<>();
        behind = present;
      }
      return present;
    }

    synchronized void subscribe(Supplier<Watch> subscribe) {
      if (subscription == null && !closed) {
        subscription = subscribe.get();
      }
    }

    synchronized void unsubscribe() {
      closed = true;
      Watch present = subscription;
      if (present != null) {
        present.close();
      }
    }

    /** Notifies a new head. Heads that leave at once are a loop, not a deep stack. */
    void notifyHead() {
      if (newHeads.getAndIncrement() == 0) {
        do {
          head.onHead();
        } while (newHeads.decrementAndGet() > 0);
      }
    }

    /** Makes the next waiter the head, or returns false if there is none. */
    boolean advance() {
      if (behind == null || behind.isEmpty()) {
        return false;
      }
      Iterator<Waiter> next = behind.iterator();
      head = next.next();
      next.remove();
      return true;
    }
  }
}
