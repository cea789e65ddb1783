package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Lets one waiter at a time through to the right manager. The order can be wrong. */
class OwnWaitQueue extends PassingManager {
  private static final Duration DAY = Duration.ofDays(1);

  private final Map<String, Deque<CompletableFuture<Void>>> lines = new HashMap<>();

  OwnWaitQueue(LockManager right) {
    super(right);
  }

  /** Returns the next waiter that is not done. */
  CompletableFuture<Void> next(Deque<CompletableFuture<Void>> line) {
    return line.getFirst();
  }

  /** Whether the turn of one who gives up is the next one's. */
  boolean isPassedOn() {
    return true;
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    return waits(request) ? inTurn(request) : super.tryAcquire(request);
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    if (request.waitAtMost().isPresent() && !waits(request)) {
      return super.acquire(request);
    }
    LockRequest waiting = request.waitAtMost().isPresent() ? request : request.waitForever();
    return inTurn(waiting)
        .orElseThrow(
            () ->
                new LockContendedException(
                    request.name(),
                    new LockVotes(0, 1, 0),
                    request.waitAtMost().orElse(Duration.ZERO)));
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    if (!waits(request)) {
      return super.tryAcquireAsync(request);
    }
    return new Waiting(request);
  }

  private static boolean waits(LockRequest request) {
    return request.waitAtMost().filter(wait -> !wait.isZero()).isPresent();
  }

  private Optional<Lease> inTurn(LockRequest request) throws InterruptedException {
    Duration wait = request.waitAtMost().orElseThrow();
    boolean limited = wait.compareTo(DAY) < 0;
    long begun = System.nanoTime();
    CompletableFuture<Void> turn = enter(request.name());
    boolean givenUp = true;
    try {
      if (limited) {
        turn.get(wait.toNanos(), TimeUnit.NANOSECONDS);
      } else {
        turn.get();
      }
      Duration left = wait.minusNanos(limited ? System.nanoTime() - begun : 0);
      Optional<Lease> lease =
          super.tryAcquire(request.waitAtMost(left.isNegative() ? Duration.ZERO : left));
      givenUp = false;
      return lease;
    } catch (TimeoutException e) {
      return super.tryAcquire(request.waitAtMost(Duration.ZERO)); // behind the one who is through
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    } catch (RuntimeException e) {
      givenUp = false;
      throw e;
    } finally {
      leave(request.name(), turn, givenUp);
    }
  }

  private synchronized CompletableFuture<Void> enter(String name) {
    CompletableFuture<Void> turn = new CompletableFuture<>();
    Deque<CompletableFuture<Void>> line = lines.computeIfAbsent(name, n -> new ArrayDeque<>());
    line.addLast(turn);
    if (line.size() == 1) {
      turn.complete(null);
    }
    return turn;
  }

  private void leave(String name, CompletableFuture<Void> turn, boolean givenUp) {
    CompletableFuture<Void> next;
    synchronized (this) {
      Deque<CompletableFuture<Void>> line = lines.getOrDefault(name, new ArrayDeque<>());
      line.removeIf(other -> other == turn);
      if (line.isEmpty()) {
        lines.remove(name);
        return;
      }
      if (!turn.isDone() || (givenUp && !isPassedOn())) {
        return;
      }
      next = next(line);
    }
    next.complete(null);
  }

  /** A future whose completion or cancellation reaches the right manager's once it is its turn. */
  private final class Waiting extends CompletableFuture<Optional<Lease>> {
    private final CompletableFuture<Void> turn;
    private volatile @Nullable CompletableFuture<Optional<Lease>> asked;

    Waiting(LockRequest request) {
      Duration wait = request.waitAtMost().orElseThrow();
      long begun = System.nanoTime();
      turn = enter(request.name());
      turn.thenRun(
          () -> {
            if (!isDone()) {
              boolean limited = wait.compareTo(DAY) < 0;
              Duration left = wait.minusNanos(limited ? System.nanoTime() - begun : 0);
              ask(request.waitAtMost(left.isNegative() ? Duration.ZERO : left));
            }
          });
      whenComplete((lease, failure) -> leave(request.name(), turn, isCancelled()));
      if (wait.compareTo(DAY) < 0) {
        CompletableFuture.delayedExecutor(wait.toNanos(), TimeUnit.NANOSECONDS, NewThreads.EXECUTOR)
            .execute(
                () -> {
                  if (asked == null && !isDone()) {
                    ask(request.waitAtMost(Duration.ZERO));
                  }
                });
      }
    }

    @Override
    public boolean complete(Optional<Lease> value) {
      CompletableFuture<Optional<Lease>> future = asked;
      return future == null ? super.complete(value) : future.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      CompletableFuture<Optional<Lease>> future = asked;
      return future == null
          ? super.completeExceptionally(failure)
          : future.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      CompletableFuture<Optional<Lease>> future = asked;
      return future == null
          ? super.cancel(mayInterruptIfRunning)
          : future.cancel(mayInterruptIfRunning);
    }

    private void ask(LockRequest request) {
      CompletableFuture<Optional<Lease>> future = OwnWaitQueue.super.tryAcquireAsync(request);
      asked = future;
      future.whenComplete(
          (lease, failure) -> {
            if (failure instanceof CancellationException) {
              super.cancel(true);
            } else if (failure != null) {
              super.completeExceptionally(failure);
            } else {
              super.complete(lease);
            }
          });
      if (isDone()) {
        future.cancel(true);
      }
    }
  }
}
