package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.reactor.ReactiveLocks;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The Mono or Flux that callers of a locked method get. Each subscriber acquires a lease of its
 * own, and the method runs under it, once for each subscriber. Needs {@code holdfast-reactor}.
 */
final class LockedPublisher {
  /** The key of a lease in the context of a chain that works under it. */
  private record Held(LockManager manager, String name) {}

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

  /** Returns the Mono or the Flux. */
  Publisher<Object> get() {
    Flux<Object> locked =
        Flux.deferContextual(
            context -> {
              Lease joined = joined(context);
              return joined == null ? acquiring() : joining(joined);
            });
    return method.result().kind() == LockedReturn.Kind.MONO ? locked.singleOrEmpty() : locked;
  }

  /**
   * Finds the lease of this name under which the chain or the calling thread works.
   *
   * @return null if there is none, or if it was released
   * @throws LockLostException if it was lost
   */
  private @Nullable Lease joined(ContextView context) {
    Lease lease = context.<Lease>getOrEmpty(key()).orElse(ofThread);
    if (lease == null) {
      return null;
    }
    try {
      lease.requireHeld();
      return lease;
    } catch (LockLostException lost) {
      throw lost;
    } catch (IllegalStateException released) {
      return null;
    }
  }

  private Flux<Object> acquiring() {
    AtomicBoolean begun = new AtomicBoolean();
    Flux<Object> locked =
        ReactiveLocks.over(manager)
            .usingLockMany(
                request,
                lease -> {
                  begun.set(true);
                  return work(lease);
                });
    return method.skips()
        ? locked.onErrorResume(
            LockContendedException.class, // not that of a lock inside the work
            refused -> begun.get() ? Flux.error(refused) : Flux.empty())
        : locked;
  }

  /** Works under a lease that is released elsewhere, and fails if that came too early. */
  private Flux<Object> joining(Lease lease) {
    Flux<Object> work = Flux.defer(() -> work(lease));
    return ReactiveLocks.usingLeaseMany(lease, work)
        .concatWith(Mono.<Object>fromRunnable(lease::requireHeld));
  }

  /** Calls the method under a lease. */
  private Flux<Object> work(Lease lease) {
    try {
      Publisher<?> result =
          Locks.<Publisher<?>, Exception>executeHolding(
              manager, lease, held -> proceed(invocation.invocableClone()));
      return Flux.<Object>from(result).contextWrite(context -> context.put(key(), lease));
    } catch (Exception e) {
      throw Exceptions.propagate(e);
    }
  }

  private Publisher<?> proceed(MethodInvocation call) throws Exception {
    Object result = LockedInterceptor.proceed(call);
    return (Publisher<?>) Objects.requireNonNull(result, () -> method + " returned null");
  }

  private Held key() {
    return new Held(manager, request.name());
  }
}
