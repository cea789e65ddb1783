package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.reactor.ReactiveLocks;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The Mono or Flux that callers of a locked method get. Each subscriber acquires a lease of its
 * own, and the method runs under it, once for each subscriber. Needs {@code holdfast-reactor}.
 */
final class LockedPublisher {
  private final LockManager manager;
  private final LockRequest request;
  private final @Nullable Lease ofThread;
  private final LockedMethod method;
  private final ProxyMethodInvocation invocation;

  /**
   * Describes a call.
   *
   * @param ofThread the lease of this name under which the calling thread works
   */
  LockedPublisher(
      LockManager manager,
      LockRequest request,
      @Nullable Lease ofThread,
      LockedMethod method,
      MethodInvocation invocation) {
    this.manager = manager;
    this.request = request;
    this.ofThread = ofThread;
    this.method = method;
    this.invocation = (ProxyMethodInvocation) invocation;
  }

  /**
   * Returns the Mono or the Flux.
   *
   * @param hasTransactions whether spring-tx is there
   */
  Publisher<Object> get(boolean hasTransactions) {
    Flux<Object> locked =
        Flux.deferContextual(
            context ->
                hasTransactions
                    ? ReactiveTransaction.current()
                        .flatMapMany(
                            found ->
                                found.isPresent() ? inside(found.get(), context) : outside(context))
                    : outside(context));
    return method.result().kind() == LockedReturn.Kind.MONO ? locked.singleOrEmpty() : locked;
  }

  private Flux<Object> outside(ContextView context) {
    HeldLease joined = joined(context, null);
    return joined == null ? skipping(this::acquiring) : joining(joined);
  }

  private Flux<Object> inside(ReactiveTransaction transaction, ContextView context) {
    HeldLease joined = joined(context, transaction.held(key()));
    if (joined != null) {
      return joining(joined);
    }
    if (!transaction.isActive()) {
      return skipping(this::acquiring);
    }
    method.requireNoFailInTransaction(request.name());
    LeaseSlot slot = transaction.slot(key());
    Mono<HeldLease> acquire =
        ReactiveLocks.over(manager).acquire(request).map(lease -> new HeldLease(manager, lease));
    return skipping(
        begun ->
            slot.lease(acquire)
                .flatMapMany(
                    held -> {
                      TransactionLease.requireHeld(held.lease());
                      begun.set(true);
                      return joining(held);
                    }));
  }

  /**
   * Finds the lease of this name under which the chain, its transaction or the calling thread
   * works.
   *
   * @return null if there is none, or if it was released
   * @throws LockLostException if it was lost
   */
  private @Nullable HeldLease joined(ContextView context, @Nullable HeldLease ofTransaction) {
    HeldLease held = context.<HeldLease>getOrEmpty(key()).orElse(ofTransaction);
    if (held == null && ofThread != null) {
      held = new HeldLease(manager, ofThread);
    }
    try {
      if (held != null) {
        held.lease().requireHeld();
      }
      return held;
    } catch (LockLostException lost) {
      throw lost;
    } catch (IllegalStateException released) {
      return null;
    }
  }

  /** Ends without an element if the lock is held by another owner and the method says SKIP. */
  private Flux<Object> skipping(Function<AtomicBoolean, Flux<Object>> locking) {
    AtomicBoolean begun = new AtomicBoolean();
    Flux<Object> locked = locking.apply(begun);
    return method.skips()
        ? locked.onErrorResume(
            LockContendedException.class, // not that of a lock inside the work
            refused -> begun.get() ? Flux.error(refused) : Flux.empty())
        : locked;
  }

  private Flux<Object> acquiring(AtomicBoolean begun) {
    AtomicReference<@Nullable HeldLease> held = new AtomicReference<>();
    return ReactiveLocks.over(manager)
        .usingLockMany(
            request,
            lease -> {
              begun.set(true);
              HeldLease acquired = new HeldLease(manager, lease);
              held.set(acquired);
              return work(acquired);
            },
            lease -> {
              HeldLease acquired = held.get();
              return acquired == null ? Mono.empty() : acquired.end();
            });
  }

  /** Works under a lease that is released elsewhere, and fails if that came too early. */
  private Flux<Object> joining(HeldLease held) {
    return ReactiveLocks.usingLeaseMany(held.lease(), Flux.defer(() -> work(held)))
        .concatWith(Mono.<Object>fromRunnable(held.lease()::requireHeld));
  }

  /** Calls the advice inside of the lock, such as that of a transaction, and the method. */
  private Flux<Object> work(HeldLease held) {
    return LockedBody.proceed(method, invocation.invocableClone())
        .contextWrite(context -> context.put(key(), held).put(HeldLease.class, held));
  }

  private HeldKey key() {
    return new HeldKey(manager, request.name());
  }
}
