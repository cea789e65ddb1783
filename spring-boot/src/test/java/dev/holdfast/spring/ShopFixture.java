package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;

/**
 * A shop that locks in memory and writes to a real database.
 *
 * @param heldAtEnd whether the lock of the order 1 was held, at each commit and rollback
 */
record ShopFixture(
    Shop shop,
    LockManager locks,
    MemoryStore store,
    Orders orders,
    RecordingTransactionManager transactions,
    List<Boolean> heldAtEnd,
    TransactionTemplate template) {
  static final String NAME = "order-1";
  static final LockRequest REQUEST = LockRequest.of(NAME, Duration.ofSeconds(30));

  /** An exception for which Spring commits. */
  static class BusinessException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  static class Shop {
    @Locked(name = "order-#{#id}")
    @Transactional
    public <T> T shipInOwnTransaction(int id, Callable<T> work) throws Exception {
      return work.call();
    }

    @Locked(name = "order-#{#id}")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public <T> T shipInNewTransaction(int id, Callable<T> work) throws Exception {
      return work.call();
    }

    @Locked(name = "order-#{#id}")
    public <T> T ship(int id, Callable<T> work) throws Exception {
      return work.call();
    }

    @Locked(name = "order-#{#id}", onTransaction = Locked.OnTransaction.FAIL)
    public String outside(int id) {
      return "done";
    }

    @Locked(name = "order-#{#id}")
    public CompletableFuture<String> stage(int id) {
      return CompletableFuture.completedFuture("done");
    }

    @Locked(name = "order-#{#id}")
    @Transactional
    public CompletableFuture<String> stageInOwnTransaction(int id, CompletableFuture<String> work) {
      return work;
    }

    @Locked(name = "order-#{#id}")
    public Mono<String> mono(int id) {
      return Mono.just("done");
    }

    @Locked(name = "order-#{#id}")
    @Transactional
    public Mono<String> monoInOwnTransaction(int id) {
      return Mono.just("done");
    }

    /** Has no lock of its own, and must be called under one. */
    @Transactional
    public <T> T inTransaction(Callable<T> work) throws Exception {
      return work.call();
    }

    /** Has no lock of its own, and rolls back if that of its caller was lost. */
    @Transactional(rollbackFor = Exception.class)
    public <T> T inTransactionUnderTheLock(Callable<T> work) throws Exception {
      T result = work.call();
      Locks.requireCurrent(NAME);
      return result;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Transactions {
    @Bean
    Shop shop() {
      return new Shop();
    }
  }

  interface Use {
    void with(ShopFixture fixture) throws Exception;
  }

  /** Runs with a transaction manager that has no listeners, as one that is no bean. */
  static void run(Use use) {
    run(false, use);
  }

  /** Runs with a transaction manager that is a bean of the application. */
  static void runWithListeners(Use use) {
    run(true, use);
  }

  private static void run(boolean hasListeners, Use use) {
    LockManager locks = LockManager.open("memory:");
    MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
    Orders orders = Orders.create();
    List<Boolean> heldAtEnd = new ArrayList<>();
    RecordingTransactionManager transactions =
        new RecordingTransactionManager(
            orders.dataSource(), () -> heldAtEnd.add(store.holder(NAME).isPresent()));
    Contexts.of(HoldfastAutoConfiguration.class)
        .withUserConfiguration(Transactions.class)
        .withBean(LockManager.class, () -> locks)
        .withBean(RecordingTransactionManager.class, () -> transactions)
        .run(
            context -> {
              if (!hasListeners) {
                transactions.setTransactionExecutionListeners(List.of());
              }
              use.with(
                  new ShopFixture(
                      context.getBean(Shop.class),
                      locks,
                      store,
                      orders,
                      transactions,
                      heldAtEnd,
                      new TransactionTemplate(transactions)));
            });
  }

  List<String> events() {
    return transactions.events();
  }

  boolean isHeld() {
    return store.holder(NAME).isPresent();
  }

  /** Writes as the work of an order that is shipped. */
  String write() {
    orders.write("shipped");
    return "shipped";
  }

  /** Writes, and loses the lock of the running method. */
  String writeAndLose() {
    orders.write("shipped");
    return LockedTest.lose(store);
  }

  /** Runs work by {@code executeLocked}, and returns assertions on what that throws. */
  AbstractThrowableAssert<?, ?> assertThatThrownUnderTheLock(LockedTask<String, Exception> work) {
    return assertThatThrownBy(() -> locks.executeLocked(REQUEST, work));
  }

  /** Asserts that work by {@code executeLocked} throws the loss of the lock. */
  void assertThatTheLossIsThrown(LockedTask<String, Exception> work) {
    assertThatThrownUnderTheLock(work).isInstanceOf(LockLostException.class);
  }

  /** Asserts that work throws the loss of the lock, and that its transaction is rolled back. */
  void assertThatALossRollsBack(ThrowingCallable work) {
    assertThatThrownBy(work).isInstanceOf(LockLostException.class);
    assertRolledBack();
  }

  /** Asserts that the only transaction was rolled back, and left nothing. */
  void assertRolledBack() {
    assertThat(events()).containsExactly("begin", "rollback");
    assertThat(orders.readElsewhere()).isEqualTo("new");
  }

  /** Ships in a transaction of the method's own. */
  <T> T shipInOwnTransaction(Callable<T> work) throws Exception {
    return shop.shipInOwnTransaction(1, work);
  }

  /** Ships in the transaction of the caller, for work that throws no checked exception. */
  <T> T ship(Callable<T> work) {
    try {
      return shop.ship(1, work);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
