package dev.holdfast.reactor;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import java.util.Objects;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Locks of a manager, for Project Reactor.
 *
 * <pre>{@code
 * ReactiveLocks locks = ReactiveLocks.over(manager);
 * LockRequest request = LockRequest.of("order-4711", Duration.ofSeconds(30));
 * Mono<Order> shipped = locks.usingLock(request, lease -> load().flatMap(order -> ship(order)));
 * }</pre>
 *
 * <p>All publishers are cold: each subscriber acquires a lease of its own. {@link #usingLock} and
 * {@link #usingLockMany(LockRequest, Function)} acquire at the subscription, as {@link
 * Mono#usingWhen} does. {@link #acquire} acquires at the first request. No thread is blocked. A
 * lease arrives on the manager's callback executor. The request waits as with {@link
 * LockManager#acquire(LockRequest)}: until the lock is acquired, unless it has {@link
 * LockRequest#waitAtMost}. The publishers fail with the exceptions of that method. Safe for use by
 * many threads.
 */
public final class ReactiveLocks {
  private final LockManager manager;

  private ReactiveLocks(LockManager manager) {
    this.manager = manager;
  }

  /**
   * Returns the locks of a manager.
   *
   * @param manager not closed by this
   * @return a new view of the manager
   */
  public static ReactiveLocks over(LockManager manager) {
    return new ReactiveLocks(Objects.requireNonNull(manager, "manager"));
  }

  /**
   * Acquires a lock. The subscriber releases the lease, best with {@link Lease#releaseAsync()}. A
   * subscription that is cancelled before the lease is emitted leaves nothing held. An operator
   * that drops an element after its cancellation drops the lease, whose lock expires with the ttl:
   * prefer {@link #usingLock}.
   *
   * @param request the lock and how long to wait for it
   * @return emits one lease, or fails with {@link LockContendedException} if another owner holds
   *     the lock and the wait is over, and with {@link LockOutageException} if no quorum answered
   */
  public Mono<Lease> acquire(LockRequest request) {
    return Mono.fromDirect(new LeasePublisher(manager, request));
  }

  /**
   * Holds a lock while a Mono runs: as {@link Mono#usingWhen} does, until it ends, fails or is
   * cancelled. When the lease is lost, the Mono is cancelled and {@link LockLostException} is
   * signalled. The value is emitted after the release.
   *
   * @param <T> the value
   * @param request the lock and how long to wait for it
   * @param work makes the Mono that runs under the lease
   * @return emits the value of the Mono. Fails with {@link LockLostException} if the lease was lost
   *     before the Mono had ended, with the Mono's own failure as its cause
   */
  public <T> Mono<T> usingLock(
      LockRequest request, Function<? super Lease, ? extends Mono<? extends T>> work) {
    Objects.requireNonNull(work, "work");
    return this.<T>usingLockMany(request, work).singleOrEmpty();
  }

  /**
   * Holds a lock while a publisher runs, as {@link #usingLock} does. Elements are emitted as they
   * come. The end is signalled after the release.
   *
   * @param <T> the elements
   * @param request the lock and how long to wait for it
   * @param work makes the publisher that runs under the lease
   * @return emits the elements of the publisher. Fails with {@link LockLostException} if the lease
   *     was lost before the publisher had ended, with the publisher's own failure as its cause
   */
  public <T> Flux<T> usingLockMany(
      LockRequest request, Function<? super Lease, ? extends Publisher<? extends T>> work) {
    return usingLockMany(request, work, lease -> Mono.empty());
  }

  /**
   * Holds a lock while a publisher runs, and some longer after a cancellation, for work that goes
   * on although it was cancelled, such as the commit of a transaction.
   *
   * @param <T> the elements
   * @param request the lock and how long to wait for it
   * @param work makes the publisher that runs under the lease
   * @param afterCancellation makes a publisher that is subscribed when the work was cancelled. The
   *     lease is released when that has ended or failed
   * @return emits the elements of the publisher, and fails as {@link #usingLockMany(LockRequest,
   *     Function)} does
   */
  public <T> Flux<T> usingLockMany(
      LockRequest request,
      Function<? super Lease, ? extends Publisher<? extends T>> work,
      Function<? super Lease, ? extends Publisher<?>> afterCancellation) {
    Objects.requireNonNull(work, "work");
    Objects.requireNonNull(afterCancellation, "afterCancellation");
    return Flux.usingWhen(
        acquire(request),
        lease -> LeaseUse.of(lease, Flux.from(work.apply(lease))),
        lease -> Mono.empty(), // released before the end was signalled
        (lease, failure) -> LeaseUse.release(lease),
        lease ->
            Mono.defer(() -> Flux.from(afterCancellation.apply(lease)).then())
                .onErrorComplete()
                .then(LeaseUse.release(lease)));
  }

  /**
   * Runs a Mono under a lease that the caller holds, and does not release it, as {@link
   * Locks#executeHolding(Lease, dev.holdfast.LockedTask)} does. Put a transaction around it, and
   * the lock around both: a lock that was lost before the commit begins rolls back.
   *
   * <pre>{@code
   * Mono<Order> shipped =
   *     locks.usingLock(
   *         request, lease -> transaction.transactional(ReactiveLocks.usingLease(lease, ship())));
   * }</pre>
   *
   * @param <T> the value
   * @param lease a lease that is held
   * @param work runs under the lease
   * @return emits the value of the Mono when it has ended. Fails with {@link LockLostException} if
   *     the lease is lost, and the Mono is not subscribed. Fails with it as well if the lease was
   *     lost before the Mono had ended, with the Mono's own failure as its cause. Fails with {@link
   *     IllegalStateException} if the lease was released before
   */
  public static <T> Mono<T> usingLease(Lease lease, Mono<? extends T> work) {
    return ReactiveLocks.<T>usingLeaseMany(lease, work).singleOrEmpty();
  }

  /**
   * Runs a publisher under a lease that the caller holds, as {@link #usingLease} does. Elements are
   * emitted as they come.
   *
   * @param <T> the elements
   * @param lease a lease that is held
   * @param work runs under the lease
   * @return emits the elements of the publisher, and fails as {@link #usingLease} does
   */
  public static <T> Flux<T> usingLeaseMany(Lease lease, Publisher<? extends T> work) {
    Objects.requireNonNull(lease, "lease");
    return LeaseUse.holding(lease, Objects.requireNonNull(work, "work"));
  }
}
