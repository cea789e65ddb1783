package dev.holdfast.spring;

import static dev.holdfast.spring.ReactiveShopFixture.PATIENCE;
import static dev.holdfast.spring.ReactiveShopFixture.registering;
import static dev.holdfast.spring.ReactiveShopFixture.run;
import static dev.holdfast.spring.ReactiveShopFixture.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.reactive.TransactionSynchronization;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** The release of a lock at the end of a reactive transaction, whichever way it ends. */
class EndOfReactiveTransactionTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theNextHolderComesAfterTheRollbackOfACancelledTransaction(boolean isOwnTransaction) {
    run(
        f -> {
          CompletableFuture<Integer> next = new CompletableFuture<>();
          CompletableFuture<Boolean> cameDuringTheRollback = new CompletableFuture<>();
          f.transactions()
              .atRollback(
                  Mono.fromFuture(next, true)
                      .hasElement()
                      .timeout(Duration.ofMillis(500), Mono.just(false))
                      .doOnNext(cameDuringTheRollback::complete)
                      .then());
          Sinks.Empty<Void> inserted = Sinks.empty();
          Disposable subscription =
              f.ship(
                      isOwnTransaction,
                      () ->
                          f.insert()
                              .doOnNext(row -> inserted.tryEmitEmpty().orThrow())
                              .then(Mono.never()))
                  .subscribe();
          inserted.asMono().block(PATIENCE);
          f.seenByTheNextHolder().thenAccept(next::complete);
          subscription.dispose();

          assertThat(cameDuringTheRollback).succeedsWithin(PATIENCE).isEqualTo(false);
          assertThat(next).succeedsWithin(PATIENCE).isEqualTo(1);
        });
  }

  @Test
  void aTransactionInsideTheBodyCommitsBeforeTheReleaseIfNoCancellationReachesIt() {
    run(
        f -> {
          Sinks.Empty<Void> inserted = Sinks.empty();
          Sinks.Empty<Void> commit = Sinks.empty();
          Mono<String> shipped =
              f.shop()
                  .ship(
                      () ->
                          f.operator()
                              .transactional(
                                  f.insert()
                                      .doOnNext(row -> inserted.tryEmitEmpty().orThrow())
                                      .delayUntil(row -> commit.asMono())));
          Disposable subscription = Mono.fromFuture(shipped::toFuture, true).subscribe();
          inserted.asMono().block(PATIENCE);
          subscription.dispose();
          CompletableFuture<Integer> next = f.seenByTheNextHolder();
          assertThat(f.isHeld()).isTrue();
          commit.tryEmitEmpty().orThrow();

          assertThat(next).succeedsWithin(PATIENCE).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCallAfterTheCommitJoins(boolean isOwnTransaction) {
    run(
        f -> {
          AtomicReference<OptionalLong> first = new AtomicReference<>();
          AtomicReference<OptionalLong> second = new AtomicReference<>();
          Mono<String> joining =
              f.shop()
                  .shipNow(
                      with(
                          lease -> {
                            second.set(lease.fencingToken());
                            return Mono.just("joined");
                          }));
          Mono<String> shipped =
              f.ship(
                  isOwnTransaction,
                  with(
                      lease -> {
                        first.set(lease.fencingToken());
                        return registering(new AfterCommit(joining.then())).then(f.insert());
                      }));

          StepVerifier.create(shipped).expectNext("inserted").expectComplete().verify(PATIENCE);
          assertThat(second.get()).isNotNull().isEqualTo(first.get());
          assertThat(f.isHeld()).isFalse();
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFailureAfterTheCommitReleases(boolean isOwnTransaction) {
    run(
        f -> {
          Mono<Void> failing = Mono.error(new IllegalStateException("after the commit"));
          Mono<String> shipped =
              f.ship(
                  isOwnTransaction, () -> registering(new AfterCommit(failing)).then(f.insert()));

          StepVerifier.create(shipped).expectErrorMessage("after the commit").verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
          assertThat(f.orders().countElsewhere()).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFailureAfterTheCommitOfACancelledCallReleases(boolean isOwnTransaction) {
    run(
        f -> {
          Sinks.Empty<Void> committed = Sinks.empty();
          Sinks.Empty<Void> failing = Sinks.empty();
          Mono<Void> afterCommit =
              failing.asMono().doFirst(() -> committed.tryEmitEmpty().orThrow());
          Disposable subscription =
              f.ship(
                      isOwnTransaction,
                      () -> registering(new AfterCommit(afterCommit)).then(f.insert()))
                  .subscribe();
          committed.asMono().block(PATIENCE);
          subscription.dispose();
          assertThat(f.isHeld()).isTrue();
          failing.tryEmitError(new IllegalStateException("after the commit")).orThrow();

          Eventually.soon().until(() -> !f.isHeld());
        });
  }

  @Test
  void callbacksThatAreRegisteredAfterTheCommitAreCompleted() {
    run(
        f -> {
          AtomicInteger completed = new AtomicInteger();
          TransactionSynchronization late = new AfterCompletion(completed::incrementAndGet);
          Mono<String> shipped =
              f.ship(false, () -> registering(new AfterCommit(registering(late))).then(f.insert()));

          StepVerifier.create(shipped).expectNext("inserted").expectComplete().verify(PATIENCE);
          assertThat(completed).hasValue(1);
          assertThat(f.isHeld()).isFalse();
        });
  }

  private enum Fault {
    BEFORE_COMMIT,
    COMMIT,
    ROLLBACK,
    COMMIT_AND_ROLLBACK,
    CHECKED_EXCEPTION
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aFaultOfTheTransactionReleases(Fault fault) {
    for (boolean isOwnTransaction : List.of(true, false)) {
      run(
          f -> {
            Mono<Void> failing = Mono.error(new IllegalStateException("fault"));
            if (fault == Fault.COMMIT || fault == Fault.COMMIT_AND_ROLLBACK) {
              f.transactions().atCommit(failing);
            }
            if (fault == Fault.ROLLBACK || fault == Fault.COMMIT_AND_ROLLBACK) {
              f.transactions().atRollback(failing);
            }
            AtomicReference<HeldLease> held = new AtomicReference<>();
            Supplier<Mono<String>> work =
                () ->
                    switch (fault) {
                      case BEFORE_COMMIT ->
                          registering(new ReactiveShopFixture.Flush(failing)).then(f.insert());
                      case ROLLBACK -> Mono.error(new IllegalStateException("work"));
                      case CHECKED_EXCEPTION -> Mono.error(new IOException("work"));
                      default -> f.insert();
                    };
            Mono<String> shipped =
                f.ship(
                    isOwnTransaction,
                    () ->
                        Mono.deferContextual(
                            context -> {
                              held.set(context.get(HeldLease.class));
                              return work.get();
                            }));

            StepVerifier.create(shipped).expectError().verify(PATIENCE);
            assertThat(f.isHeld()).as(fault + ", own: " + isOwnTransaction).isFalse();
            StepVerifier.create(Objects.requireNonNull(held.get()).end())
                .expectComplete()
                .verify(PATIENCE);
          });
    }
  }

  private record AfterCommit(Mono<Void> work) implements TransactionSynchronization {
    @Override
    public Mono<Void> afterCommit() {
      return work;
    }
  }

  private record AfterCompletion(Runnable work) implements TransactionSynchronization {
    @Override
    public Mono<Void> afterCompletion(int status) {
      return Mono.fromRunnable(work);
    }
  }
}
