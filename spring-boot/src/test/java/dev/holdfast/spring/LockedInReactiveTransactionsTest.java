package dev.holdfast.spring;

import static dev.holdfast.spring.ReactiveShopFixture.NAME;
import static dev.holdfast.spring.ReactiveShopFixture.PATIENCE;
import static dev.holdfast.spring.ReactiveShopFixture.TTL;
import static dev.holdfast.spring.ReactiveShopFixture.registering;
import static dev.holdfast.spring.ReactiveShopFixture.run;
import static dev.holdfast.spring.ReactiveShopFixture.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Logs;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Locked methods in reactive transactions on a real server. */
class LockedInReactiveTransactionsTest {
  private static Mono<Void> losing(MemoryStore store, Lease lease) {
    return Mono.fromRunnable(
        () -> {
          store.steal(lease.name(), TTL);
          assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
        });
  }

  @Test
  void aCallAfterTheWorkReleasedTheLockOfItsTransactionIsRefused() {
    run(
        f -> {
          Mono<Boolean> releasing =
              f.shop().ship(with(lease -> Mono.fromFuture(lease::releaseAsync)));
          Mono<String> again =
              f.operator()
                  .transactional(
                      releasing
                          .onErrorResume(IllegalStateException.class, released -> Mono.empty())
                          .then(f.shop().ship(f::insert)));

          StepVerifier.create(again)
              .expectErrorSatisfies(
                  failure ->
                      assertThat(failure)
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("begin the transaction inside the lock"))
              .verify(PATIENCE);
          assertThat(f.orders().countElsewhere()).as("rolled back").isEqualTo(1);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theNextHolderSeesTheCommitHoweverLongItTakes(boolean isOwnTransaction) {
    run(
        f -> {
          f.orders().slowCommits(300);
          AtomicReference<CompletableFuture<Integer>> seen = new AtomicReference<>();
          Mono<String> shipped =
              f.ship(
                  isOwnTransaction,
                  () -> {
                    seen.set(f.seenByTheNextHolder());
                    return f.insert();
                  });

          StepVerifier.create(shipped).expectNext("inserted").expectComplete().verify(PATIENCE);
          assertThat(seen.get()).succeedsWithin(PATIENCE).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCancellationDuringTheCommitReleasesTheLockAfterTheCommit(boolean isOwnTransaction) {
    run(
        f -> {
          f.orders().slowCommits(300);
          Sinks.Empty<Void> committing = Sinks.empty();
          f.transactions().atCommit(Mono.fromRunnable(() -> committing.tryEmitEmpty().orThrow()));
          Disposable subscription = f.ship(isOwnTransaction, f::insert).subscribe();
          committing.asMono().block(PATIENCE);
          subscription.dispose();

          assertThat(f.seenByTheNextHolder()).succeedsWithin(PATIENCE).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCancellationBeforeTheCommitRollsBackAndReleases(boolean isOwnTransaction) {
    run(
        f -> {
          Sinks.Empty<Void> inserted = Sinks.empty();
          Disposable subscription =
              f.ship(
                      isOwnTransaction,
                      () ->
                          f.insert()
                              .flatMap(
                                  row ->
                                      Mono.<String>never()
                                          .doOnRequest(any -> inserted.tryEmitEmpty().orThrow())))
                  .subscribe();
          inserted.asMono().block(PATIENCE);
          assertThat(f.isHeld()).isTrue();
          subscription.dispose();

          assertThat(f.seenByTheNextHolder()).succeedsWithin(PATIENCE).isEqualTo(1);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLossBeforeTheCommitRollsBack(boolean isOwnTransaction) {
    run(
        f -> {
          Mono<String> shipped =
              f.ship(
                  isOwnTransaction,
                  with(
                      lease ->
                          f.insert().flatMap(row -> losing(f.store(), lease).thenReturn(row))));

          StepVerifier.create(shipped).expectError(LockLostException.class).verify(PATIENCE);
          assertThat(f.orders().countElsewhere()).isEqualTo(1);
        });
  }

  @Test
  void aLossRollsBackTheCallersTransactionAlsoIfTheCallerGoesOn() {
    run(
        f -> {
          Mono<String> shipped =
              f.operator()
                  .transactional(
                      f.shop()
                          .ship(
                              with(
                                  lease ->
                                      f.insert()
                                          .then(losing(f.store(), lease))
                                          .thenReturn("never")))
                          .onErrorReturn(LockLostException.class, "goes on"));

          StepVerifier.create(shipped).expectError(LockLostException.class).verify(PATIENCE);
          assertThat(f.orders().countElsewhere()).isEqualTo(1);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theLossIsCheckedAfterAllWorkBeforeTheCommitThatTheMethodRegistered(
      boolean isOwnTransaction) {
    run(
        f -> {
          Mono<String> shipped =
              f.ship(
                  isOwnTransaction,
                  with(
                      lease ->
                          registering(new ReactiveShopFixture.Flush(losing(f.store(), lease)))
                              .then(f.insert())));

          StepVerifier.create(shipped).expectError(LockLostException.class).verify(PATIENCE);
          // the rollback of a cancelled transaction goes on in the background
          Eventually.soon()
              .untilAsserted(() -> assertThat(f.orders().countElsewhere()).isEqualTo(1));
        });
  }

  @Test
  void aLossDuringTheCommitOfACallersTransactionIsWarnedOfAndCounted() {
    run(
        f -> {
          List<Long> overruns = Overruns.of(f.locks());
          try (Logs logs = new Logs()) {
            Mono<String> shipped =
                f.ship(
                    false,
                    with(
                        lease -> {
                          f.transactions().atCommit(losing(f.store(), lease));
                          return f.insert();
                        }));
            StepVerifier.create(shipped).expectNext("inserted").expectComplete().verify(PATIENCE);

            assertThat(f.orders().countElsewhere()).as("the commit stands").isEqualTo(2);
            Eventually.soon().untilAsserted(() -> assertThat(overruns).hasSize(1));
            assertThat(logs.warnings()).anyMatch(each -> each.contains("'" + NAME + "' had been"));
          }
        });
  }

  @Test
  void eachSubscriberHasATransactionOfItsOwn() {
    run(
        f -> {
          Flux<Boolean> active =
              f.shop()
                  .shipManyInOwnTransaction(
                      () ->
                          TransactionSynchronizationManager.forCurrentTransaction()
                              .map(TransactionSynchronizationManager::isActualTransactionActive)
                              .flux());
          StepVerifier.create(active.repeat(1))
              .expectNext(true, true)
              .expectComplete()
              .verify(PATIENCE);
        });
  }

  @Test
  void aSecondCallInTheSameTransactionJoins() {
    run(
        f -> {
          Mono<String> token = f.shop().ship(with(lease -> Mono.just(lease.token())));
          Mono<Boolean> same =
              f.operator()
                  .transactional(token.flatMap(first -> token.map(second -> first.equals(second))));

          StepVerifier.create(same).expectNext(true).expectComplete().verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aMethodMayRefuseATransaction() {
    run(
        f -> {
          StepVerifier.create(f.shop().outside())
              .expectNext("done")
              .expectComplete()
              .verify(PATIENCE);
          StepVerifier.create(f.operator().transactional(f.shop().outside()))
              .expectErrorSatisfies(
                  failure ->
                      assertThat(failure)
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("Shop.outside was called inside a transaction"))
              .verify(PATIENCE);
          assertThat(f.isHeld()).isFalse();
        });
  }
}
