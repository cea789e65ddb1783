package dev.holdfast.spring;

import dev.holdfast.Locks;
import java.util.Objects;
import java.util.function.BiConsumer;
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
    Flux<Object> body = hasTransactions ? inTransaction(run) : run;
    return method.result().kind() == LockedReturn.Kind.MONO ? body.singleOrEmpty() : body;
  }

  /**
   * Has the release wait for the end of the transaction that the method's own advice began, and the
   * transaction check the lease before its commit. The check is registered at the end, so that it
   * comes after all work before the commit that the method has registered.
   */
  private static Flux<Object> inTransaction(Flux<Object> run) {
    Mono<Object> check = with(ReactiveTransaction::checkBeforeCommit);
    return with(ReactiveTransaction::workUnder)
        .thenMany(run)
        .onErrorResume(failure -> check.then(Mono.error(failure)))
        .concatWith(check);
  }

  /** Does something with the transaction and the lease of the chain, if it has a transaction. */
  private static Mono<Object> with(BiConsumer<ReactiveTransaction, HeldLease> action) {
    return Mono.deferContextual(
        context ->
            ReactiveTransaction.current()
                .doOnNext(
                    found -> found.ifPresent(tx -> action.accept(tx, context.get(HeldLease.class))))
                .then(Mono.empty()));
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
