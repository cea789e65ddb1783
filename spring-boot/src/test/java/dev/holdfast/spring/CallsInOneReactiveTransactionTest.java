package dev.holdfast.spring;

import static dev.holdfast.spring.ReactiveShopFixture.NAME;
import static dev.holdfast.spring.ReactiveShopFixture.PATIENCE;
import static dev.holdfast.spring.ReactiveShopFixture.TTL;
import static dev.holdfast.spring.ReactiveShopFixture.registering;
import static dev.holdfast.spring.ReactiveShopFixture.run;
import static dev.holdfast.spring.ReactiveShopFixture.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.testsupport.Eventually;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.core.Ordered;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Calls of one lock at the same time in one reactive transaction. */
class CallsInOneReactiveTransactionTest {
  @Test
  void twoCallsAtOnceShareTheLease() {
    run(
        f -> {
          Mono<OptionalLong> token =
              f.shop().shipNow(with(lease -> Mono.just(lease.fencingToken())));
          Mono<Boolean> same =
              f.operator().transactional(Mono.zip(token, token, OptionalLong::equals));

          StepVerifier.create(same).expectNext(true).expectComplete().verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
        });
  }

  private static Mono<Integer> callbacksAfter(ReactiveShopFixture f, int calls) {
    Mono<String> both =
        f.shop()
            .shipNow(() -> Mono.just("shipped"))
            .then(f.shop().shipOther(() -> Mono.just("shipped")));
    return f.operator()
        .transactional(
            both.repeat(calls)
                .then(TransactionSynchronizationManager.forCurrentTransaction())
                .map(transaction -> transaction.getSynchronizations().size()));
  }

  @Test
  void callsForTwoLocksByTurnsDoNotRegisterACheckEach() {
    run(
        f -> {
          Mono<Boolean> same =
              callbacksAfter(f, 3).flatMap(few -> callbacksAfter(f, 50).map(few::equals));

          StepVerifier.create(same).expectNext(true).expectComplete().verify(PATIENCE);
        });
  }

  @Test
  void aRefusedCallMayBeRepeatedInTheSameTransaction() {
    run(
        f -> {
          Lease other = f.locks().acquire(NAME, TTL);
          Mono<String> now =
              f.shop()
                  .shipNow(() -> Mono.just("shipped"))
                  .onErrorReturn(LockContendedException.class, "refused");
          Mono<List<String>> results =
              f.operator()
                  .transactional(
                      Mono.zip(now, now, List::of)
                          .flatMap(
                              both ->
                                  Mono.fromFuture(other.releaseAsync())
                                      .then(now)
                                      .map(third -> List.of(both.get(0), both.get(1), third))));

          StepVerifier.create(results)
              .expectNext(List.of("refused", "refused", "shipped"))
              .expectComplete()
              .verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aCallGoesOnWhenTheCallThatAcquiresIsCancelled() {
    run(
        f -> {
          Lease other = f.locks().acquire(NAME, TTL);
          Sinks.Empty<Void> cancelling = Sinks.empty();
          Mono<String> later = f.shop().shipLater(() -> Mono.just("shipped"));
          Mono<String> shipped =
              f.operator()
                  .transactional(
                      Mono.zip(
                              later.takeUntilOther(cancelling.asMono()).defaultIfEmpty("cancelled"),
                              later,
                              Mono.fromRunnable(
                                      () -> {
                                        cancelling.tryEmitEmpty().orThrow();
                                        other.releaseAsync();
                                      })
                                  .thenReturn("released"))
                          .map(all -> all.getT1() + ", " + all.getT2()));

          StepVerifier.create(shipped)
              .expectNext("cancelled, shipped")
              .expectComplete()
              .verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aLeaseThatArrivesAfterSpringCopiedTheCallbacksIsReleased() {
    run(
        f -> {
          Lease other = f.locks().acquire(NAME, TTL);
          CompletableFuture<Void> arrived = new CompletableFuture<>();
          AtomicBoolean isRolledBack = new AtomicBoolean();
          f.transactions().atRollback(Mono.fromRunnable(() -> isRolledBack.set(true)));
          TransactionSynchronization atCopy =
              new Copied(
                  () -> {
                    if (isRolledBack.getAndSet(false)) {
                      other.releaseAsync();
                      assertThat(arrived).succeedsWithin(PATIENCE);
                    }
                  });
          Mono<String> late =
              f.shop().shipLater(() -> Mono.fromRunnable(() -> arrived.complete(null)));
          Mono<String> work =
              Mono.deferContextual(
                  context -> {
                    late.contextWrite(context).subscribe();
                    return registering(atCopy)
                        .then(registering(new ReactiveShopFixture.Flush(Mono.empty())))
                        .then(Mono.error(new IllegalStateException("rolls back")));
                  });

          StepVerifier.create(f.operator().transactional(work))
              .expectErrorMessage("rolls back")
              .verify(PATIENCE);
          assertThat(arrived).isDone();
          Eventually.soon().until(() -> !f.isHeld());
        });
  }

  /** A callback that does something while Spring sorts its copy of the callbacks. */
  private record Copied(Runnable work) implements TransactionSynchronization, Ordered {
    @Override
    public int getOrder() {
      work.run();
      return 0;
    }
  }
}
