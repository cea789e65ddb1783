package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A shop whose database is reached by a reactive driver, and by others over JDBC. */
record ReactiveShopFixture(
    Shop shop,
    LockManager locks,
    MemoryStore store,
    Orders orders,
    DatabaseClient client,
    HookedTransactionManager transactions,
    TransactionalOperator operator) {
  static final Duration TTL = Duration.ofSeconds(30);
  static final Duration PATIENCE = Duration.ofSeconds(60);
  static final String NAME = "order-1";

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

    @Locked(name = "order-2")
    public <T> Mono<T> shipOther(Supplier<Mono<T>> work) {
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
  static final class HookedTransactionManager extends R2dbcTransactionManager {
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

  interface Use {
    void with(ReactiveShopFixture fixture) throws Exception;
  }

  static void run(Use use) {
    Orders orders = Orders.create();
    Contexts.inMemory()
        .withUserConfiguration(Transactions.class)
        .withPropertyValues("holdfast.locked.ttl=60s")
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              use.with(
                  new ReactiveShopFixture(
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

  /** Does something in the body of a locked method with its lease, then the work. */
  static <T> Supplier<Mono<T>> with(Function<Lease, Mono<T>> work) {
    return () -> work.apply(Locks.current().orElseThrow());
  }

  static Mono<Void> registering(TransactionSynchronization callback) {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .doOnNext(transaction -> transaction.registerSynchronization(callback))
        .then();
  }

  /** Work before the commit, such as a flush. */
  record Flush(Mono<Void> work) implements TransactionSynchronization {
    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
      return work;
    }
  }
}
