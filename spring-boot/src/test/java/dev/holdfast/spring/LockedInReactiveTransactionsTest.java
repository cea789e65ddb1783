package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Logs;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Locked methods in reactive transactions on a real server. */
class LockedInReactiveTransactionsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String NAME = "order-1";

  static class Shop {
    @Locked(name = "order-1")
    @Transactional
    public <T> Mono<T> shipInOwnTransaction(Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-1")
    @Transactional
    public <T> Flux<T> shipManyInOwnTransaction(Supplier<Flux<T>> work) {
      return work.get();
    }

    @Locked(name = "order-1")
    public <T> Mono<T> ship(Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-1", waitAtMost = "0s")
    public <T> Mono<T> shipNow(Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-1", waitAtMost = "30s")
    public <T> Mono<T> shipLater(Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-1", onTransaction = Locked.OnTransaction.FAIL)
    public Mono<String> outside() {
      return Mono.just("done");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Transactions {
    @Bean
    Shop shop() {
      return new Shop();
    }

    @Bean
    ConnectionFactory connections() {
      return new PostgresqlConnectionFactory(
          PostgresqlConnectionConfiguration.builder()
              .host("localhost")
              .port(PostgresServer.port())
              .username("postgres")
              .database("postgres")
              .build());
    }

    @Bean
    HookedTransactionManager transactionManager(ConnectionFactory connections) {
      return new HookedTransactionManager(connections);
    }
  }

  /** Transactions of a real database, with hooks before the commit and after the rollback. */
  private static final class HookedTransactionManager extends R2dbcTransactionManager {
    private static final long serialVersionUID = 1L;

    private transient Mono<Void> atCommit = Mono.empty();
    private transient Mono<Void> atRollback = Mono.empty();

    HookedTransactionManager(ConnectionFactory connections) {
      super(connections);
    }

    /** Does something between the last work before a commit and the commit. */
    void atCommit(Mono<Void> action) {
      atCommit = action;
    }

    @Override
    protected Mono<Void> doCommit(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return atCommit.then(super.doCommit(manager, status));
    }

    /** Does something between a rollback and the callbacks after it. */
    void atRollback(Mono<Void> action) {
      atRollback = action;
    }

    @Override
    protected Mono<Void> doRollback(
        TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
      return super.doRollback(manager, status).then(atRollback);
    }
  }

  /** A shop whose database is reached by a reactive driver, and by others over JDBC. */
  private record Fixture(
      Shop shop,
      LockManager locks,
      MemoryStore store,
      Orders orders,
      DatabaseClient client,
      HookedTransactionManager transactions,
      TransactionalOperator operator) {
    Mono<String> insert() {
      return client
          .sql("insert into orders values (2, 'new', 0)")
          .fetch()
          .rowsUpdated()
          .thenReturn("inserted");
    }

    /** Runs work with or without a transaction of the method's own, but in a transaction. */
    <T> Mono<T> ship(boolean isOwnTransaction, Supplier<Mono<T>> work) {
      return isOwnTransaction
          ? shop.shipInOwnTransaction(work)
          : operator.transactional(shop.ship(work));
    }

    boolean isHeld() {
      return store.holder(NAME).isPresent();
    }

    /** The number of orders that the next holder of the lock sees. */
    CompletableFuture<Integer> seenByTheNextHolder() {
      return locks
          .tryAcquireAsync(LockRequest.of(NAME, TTL).waitAtMost(TTL)) // less than the ttl above
          .thenApply(
              lease -> {
                try (Lease held = lease.orElseThrow()) {
                  held.requireHeld();
                  return orders.countElsewhere();
                }
              });
    }
  }

  private interface Use {
    void with(Fixture fixture) throws Exception;
  }

  private static void run(Use use) {
    Orders orders = Orders.create();
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
        .withUserConfiguration(Transactions.class)
        .withPropertyValues("holdfast.url=memory:", "holdfast.locked.ttl=60s")
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              use.with(
                  new Fixture(
                      context.getBean(Shop.class),
                      locks,
                      locks.unwrap(MemoryStore.class).orElseThrow(),
                      orders,
                      DatabaseClient.create(context.getBean(ConnectionFactory.class)),
                      context.getBean(HookedTransactionManager.class),
                      TransactionalOperator.create(
                          context.getBean(HookedTransactionManager.class))));
            });
  }

  /** Does something in the body of a locked method with its lease, then the work. */
  private static <T> Supplier<Mono<T>> with(Function<Lease, Mono<T>> work) {
    return () -> work.apply(Locks.current().orElseThrow());
  }

  private static Mono<Void> losing(MemoryStore store, Lease lease) {
    return Mono.fromRunnable(
        () -> {
          store.steal(lease.name(), TTL);
          assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
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
                          TransactionSynchronizationManager.forCurrentTransaction()
                              .doOnNext(
                                  transaction ->
                                      transaction.registerSynchronization(
                                          new Flush(losing(f.store(), lease))))
                              .then(f.insert())));

          StepVerifier.create(shipped).expectError(LockLostException.class).verify(PATIENCE);
          // the rollback of a cancelled transaction goes on in the background
          Eventually.soon()
              .untilAsserted(() -> assertThat(f.orders().countElsewhere()).isEqualTo(1));
        });
  }

  /** Work before the commit, such as a flush. */
  private record Flush(Mono<Void> work) implements TransactionSynchronization {
    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
      return work;
    }
  }

  @Test
  void aLossDuringTheCommitOfACallersTransactionIsWarnedOfAndCounted() {
    run(
        f -> {
          List<Long> overruns = new CopyOnWriteArrayList<>();
          f.locks()
              .addListener(
                  new LockListener() {
                    @Override
                    public void onOverrun(String name, long leaseId, long overrunNanos) {
                      overruns.add(overrunNanos);
                    }
                  });
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
                      case BEFORE_COMMIT -> registering(new Flush(failing)).then(f.insert());
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
                        .then(registering(new Flush(Mono.empty())))
                        .then(Mono.error(new IllegalStateException("rolls back")));
                  });

          StepVerifier.create(f.operator().transactional(work))
              .expectErrorMessage("rolls back")
              .verify(PATIENCE);
          assertThat(arrived).isDone();
          Eventually.soon().until(() -> !f.isHeld());
        });
  }

  private static Mono<Void> registering(TransactionSynchronization callback) {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .doOnNext(transaction -> transaction.registerSynchronization(callback))
        .then();
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

  /** A callback that does something while Spring sorts its copy of the callbacks. */
  private record Copied(Runnable work) implements TransactionSynchronization, Ordered {
    @Override
    public int getOrder() {
      work.run();
      return 0;
    }
  }
}
