package dev.holdfast.spring;

import dev.holdfast.Locks;
import java.util.Objects;
import org.aopalliance.intercept.MethodInvocation;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The body of a locked method that returns a Mono or a Flux. It runs when it is subscribed, inside
 * the transaction of the method's own advice, and under the lease of its chain.
 */
final class LockedBody {
  private LockedBody() {}

  /**
   * Returns the result of the innermost advice.
   *
   * @param hasTransactions whether spring-tx is there
   */
  static Publisher<Object> of(
      LockedMethod method, ProxyMethodInvocation invocation, boolean hasTransactions) {
    Flux<Object> run = Flux.deferContextual(context -> run(method, invocation, context));
    Flux<Object> body = hasTransactions ? checkingCommit(run) : run;
    return method.result().kind() == LockedReturn.Kind.MONO ? body.singleOrEmpty() : body;
  }

  /**
   * Has the transaction that the method's own advice began check the lease before its commit. The
   * check is registered at the end, so that it comes after all work before the commit that the
   * method has registered.
   */
  private static Flux<Object> checkingCommit(Flux<Object> run) {
    Mono<Object> check =
        Mono.deferContextual(
            context ->
                ReactiveTransaction.current()
                    .doOnNext(
                        found ->
                            found.ifPresent(
                                tx -> tx.checkBeforeCommit(context.get(HeldLease.class))))
                    .then(Mono.empty()));
    return run.onErrorResume(failure -> check.then(Mono.error(failure))).concatWith(check);
  }

  private static Flux<Object> run(
      LockedMethod method, ProxyMethodInvocation invocation, ContextView context) {
    HeldLease held = context.get(HeldLease.class);
    try {
      return Locks.<Flux<Object>, Exception>executeHolding(
          held.manager(), held.lease(), lease -> proceed(method, invocation.invocableClone()));
    } catch (Exception e) {
      throw Exceptions.propagate(e);
    }
  }

  /** Calls the next advice, or the method. */
  static Flux<Object> proceed(LockedMethod method, MethodInvocation invocation) {
    try {
      Object result = LockedInterceptor.proceed(invocation);
      return Flux.from(
          (Publisher<?>) Objects.requireNonNull(result, () -> method + " returned null"));
    } catch (Exception e) {
      throw Exceptions.propagate(e);
    }
  }
}
