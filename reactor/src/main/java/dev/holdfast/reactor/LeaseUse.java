package dev.holdfast.reactor;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A publisher under a lease: its end is a release, and a loss is its failure. */
final class LeaseUse {
  private static final ReleaseWarnings WARNINGS = new ReleaseWarnings(System::nanoTime);

  private LeaseUse() {}

  /**
   * Returns the work, ended by a loss. A loss completes the work, because {@code takeUntilOther}
   * cancels it only then, and the release that follows fails with the loss.
   */
  static <T> Flux<T> of(Lease lease, Flux<? extends T> work) {
    return LeaseUse.<T>untilLost(lease, work).concatWith(Mono.defer(() -> releaseHeld(lease)));
  }

  /** Returns the work, ended by a loss, under a lease that the caller releases. */
  static <T> Flux<T> holding(Lease lease, Publisher<? extends T> work) {
    return Flux.defer(
        () -> {
          lease.requireHeld();
          return LeaseUse.<T>untilLost(lease, Flux.from(work))
              .concatWith(Mono.defer(() -> failIfLost(lease)));
        });
  }

  /**
   * Looks at the lease when the failure has passed: the look may find the loss, which would end the
   * work before its failure does.
   */
  private static <T> Flux<T> untilLost(Lease lease, Flux<? extends T> work) {
    return Flux.<T>from(work)
        .takeUntilOther(loss(lease))
        .onErrorMap(failure -> lossOr(lease, failure));
  }

  private static <T> Mono<T> failIfLost(Lease lease) {
    LockLostException lost = lossOf(lease, null);
    return lost == null ? Mono.empty() : Mono.error(lost);
  }

  /** Releases a lease that may have been released before. Never fails. */
  static Mono<Void> release(Lease lease) {
    return Mono.fromFuture(lease::releaseAsync, true)
        .then()
        .onErrorResume(
            failure -> {
              WARNINGS.add(lease.name(), failure);
              return Mono.empty();
            });
  }

  /**
   * Emits the reason of a loss. A stage that is cancelled stays in the memory of the one that it
   * depends on, and keeps the subscriber there, except if it waits for a second one that completes.
   */
  private static Mono<LossReason> loss(Lease lease) {
    return Mono.create(
        sink -> {
          // on a thread that waits for no callback of users, who may block them
          CompletableFuture<LossReason> disposed = new CompletableFuture<>();
          CompletableFuture<Void> notification =
              lease.onLoss().acceptEitherAsync(disposed, sink::success, Runnable::run);
          sink.onDispose(
              () -> {
                notification.cancel(false);
                disposed.cancel(false);
              });
        });
  }

  /**
   * Releases a lease, and fails if it was lost before. A release by the work is no loss. Ends
   * although the subscriber requests nothing more: {@code then} requests the answer.
   */
  private static <T> Mono<T> releaseHeld(Lease lease) {
    LockLostException lost = lossOf(lease, null);
    if (lost != null) {
      return Mono.error(lost);
    }
    return Mono.fromFuture(lease::releaseAsync, true)
        .onErrorResume(
            LockOutageException.class,
            failure -> {
              WARNINGS.add(lease.name(), failure);
              return Mono.just(true);
            })
        .flatMap(held -> held ? Mono.empty() : failIfLost(lease))
        .then(Mono.empty());
  }

  private static Throwable lossOr(Lease lease, Throwable failure) {
    LockLostException lost = lossOf(lease, failure);
    return lost == null ? failure : lost;
  }

  /** Returns the loss of a lease, or null if it is held or was released. */
  private static @Nullable LockLostException lossOf(Lease lease, @Nullable Throwable ofWork) {
    try {
      lease.requireHeld();
      return null;
    } catch (LockLostException lost) {
      boolean isSaid = ofWork == null || ofWork instanceof LockLostException;
      return isSaid ? lost : new LockLostException(lease.name(), lost.reason(), ofWork);
    } catch (IllegalStateException released) {
      return null;
    }
  }
}
