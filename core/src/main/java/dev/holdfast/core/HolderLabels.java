package dev.holdfast.core;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Looks up the holder of a lock that could not be had, for the message alone. Waiters of one name
 * that give up at the same time share one look.
 */
final class HolderLabels {
  private final Function<String, CompletableFuture<Optional<LockStatus>>> inspect;
  private final Duration patience;
  private final Map<String, CompletableFuture<Optional<LockStatus>>> looks =
      new ConcurrentHashMap<>();

  /**
   * Looks nothing up yet.
   *
   * @param inspect asks the backend
   * @param patience the longest wait for a label
   */
  HolderLabels(
      Function<String, CompletableFuture<Optional<LockStatus>>> inspect, Duration patience) {
    this.inspect = inspect;
    this.patience = patience;
  }

  /** Returns the holder's label, or empty if it is not known in time. */
  Optional<String> labelOf(String name) throws InterruptedException {
    CompletableFuture<Optional<LockStatus>> mine = new CompletableFuture<>();
    CompletableFuture<Optional<LockStatus>> present = looks.putIfAbsent(name, mine);
    CompletableFuture<Optional<LockStatus>> look = present == null ? mine : present;
    if (present == null) {
      inspect
          .apply(name)
          .whenComplete(
              (status, failure) -> {
                looks.remove(name, mine);
                mine.complete(status == null ? Optional.empty() : status);
              });
    }
    try {
      return look.get(patience.toNanos(), TimeUnit.NANOSECONDS).map(LockStatus::ownerLabel);
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    }
  }
}
