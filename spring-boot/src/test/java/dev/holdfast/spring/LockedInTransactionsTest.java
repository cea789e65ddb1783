package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class LockedInTransactionsTest {
  private static final String NAME = "order-1";

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
  }

  /** Whether the lock was held, at each commit and rollback. */
  private final List<Boolean> heldAtEnd = new ArrayList<>();

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Transactions {
    @Bean
    Shop shop() {
      return new Shop();
    }
  }

  private record Fixture(
      Shop shop, MemoryStore store, FakeTransactionManager fake, TransactionTemplate template) {
    boolean isHeld() {
      return store.holder(NAME).isPresent();
    }
  }

  private interface Use {
    void with(Fixture fixture) throws Exception;
  }

  private void run(Use use) {
    LockManager locks = LockManager.open("memory:");
    MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
    FakeTransactionManager fake =
        new FakeTransactionManager(() -> heldAtEnd.add(store.holder(NAME).isPresent()));
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
        .withUserConfiguration(Transactions.class)
        .withBean(LockManager.class, () -> locks)
        .withBean(FakeTransactionManager.class, () -> fake)
        .run(
            context ->
                use.with(
                    new Fixture(
                        context.getBean(Shop.class), store, fake, new TransactionTemplate(fake))));
  }

  @Test
  void theLockIsOutsideTheTransactionOfTheSameMethod() {
    run(
        f -> {
          String result = f.shop.shipInOwnTransaction(1, () -> "done");

          assertThat(result).isEqualTo("done");
          assertThat(f.fake.events()).containsExactly("begin", "commit");
          assertThat(heldAtEnd).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aCallThatDoesNotGetTheLockBeginsNoTransaction() {
    run(
        f -> {
          f.store.steal(NAME, Duration.ofSeconds(30));

          assertThatThrownBy(() -> f.shop.shipInOwnTransaction(1, () -> "never"))
              .isInstanceOf(LockContendedException.class);
          assertThat(f.fake.events()).isEmpty();
        });
  }

  @Test
  void aLossRollsBackTheTransactionOfTheSameMethodWhateverTheWorkThrew() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.shop.shipInOwnTransaction(
                          1,
                          () -> {
                            LockedTest.lose(f.store);
                            throw new BusinessException();
                          }))
              .isInstanceOf(LockLostException.class);
          assertThat(f.fake.events()).containsExactly("begin", "rollback");
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @Test
  void anExceptionForWhichSpringCommitsStillCommitsWhileTheLockIsHeld() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.shop.shipInOwnTransaction(
                          1,
                          () -> {
                            throw new BusinessException();
                          }))
              .isInstanceOf(BusinessException.class);
          assertThat(f.fake.events()).containsExactly("begin", "commit");
        });
  }

  @Test
  void aCallersTransactionHoldsTheLockUntilItHasCommitted() {
    run(
        f -> {
          boolean heldAfterCall =
              f.template.execute(
                  status -> {
                    ship(f, "done");
                    return f.isHeld();
                  });

          assertThat(heldAfterCall).isTrue();
          assertThat(f.fake.events()).containsExactly("begin", "commit");
          assertThat(heldAtEnd).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aCallersTransactionReleasesTheLockAfterARollback() {
    run(
        f -> {
          f.template.executeWithoutResult(
              status -> {
                ship(f, "done");
                status.setRollbackOnly();
              });

          assertThat(f.fake.events()).containsExactly("begin", "rollback");
          assertThat(heldAtEnd).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aLossRollsBackTheCallersTransactionAlsoIfTheCallerCatchesIt() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.template.executeWithoutResult(
                          status ->
                              assertThatThrownBy(
                                      () -> f.shop.ship(1, () -> LockedTest.lose(f.store)))
                                  .isInstanceOf(LockLostException.class)))
              .isInstanceOf(LockLostException.class);
          assertThat(f.fake.events()).containsExactly("begin", "rollback");
        });
  }

  @Test
  void theLossIsCheckedAfterAllOtherWorkBeforeTheCommit() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.template.executeWithoutResult(
                          status -> {
                            Lease[] lease = new Lease[1];
                            shipAnd(f, () -> lease[0] = Locks.current().orElseThrow());
                            TransactionSynchronizationManager.registerSynchronization(
                                new Losing(f.store, lease[0]));
                          }))
              .isInstanceOf(LockLostException.class);
          assertThat(f.fake.events()).containsExactly("begin", "rollback");
        });
  }

  @Test
  void aSecondCallInTheSameTransactionJoins() {
    run(
        f -> {
          boolean same =
              f.template.execute(
                  status -> {
                    String first = token(f);
                    return first.equals(token(f));
                  });

          assertThat(same).isTrue();
          assertThat(f.fake.events()).containsExactly("begin", "commit");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aNewTransactionJoinsTheLockOfTheSuspendedOneAndIsRolledBackByItsLoss() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.template.executeWithoutResult(
                          status -> {
                            ship(f, "done");
                            assertThatThrownBy(
                                    () ->
                                        f.shop.shipInNewTransaction(
                                            1, () -> LockedTest.lose(f.store)))
                                .isInstanceOf(LockLostException.class);
                            assertThat(f.fake.events())
                                .containsExactly("begin", "begin", "rollback");
                          }))
              .isInstanceOf(LockLostException.class);
          assertThat(f.fake.events()).containsExactly("begin", "begin", "rollback", "rollback");
        });
  }

  @Test
  void aMethodMayRefuseATransaction() {
    run(
        f -> {
          assertThat(f.shop.outside(1)).isEqualTo("done");
          f.template.executeWithoutResult(
              status ->
                  assertThatThrownBy(() -> f.shop.outside(1))
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("Shop.outside was called inside a transaction"));
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aStageIsRefusedInsideATransaction() {
    run(
        f -> {
          f.template.executeWithoutResult(
              status ->
                  assertThatThrownBy(() -> f.shop.stage(1))
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("would end before the work"));
          assertThat(f.isHeld()).isFalse();
        });
  }

  private static String token(Fixture f) {
    return shipAnd(f, () -> Locks.current().orElseThrow().token());
  }

  private static void ship(Fixture f, String result) {
    assertThat(shipAnd(f, () -> result)).isEqualTo(result);
  }

  private static <T> T shipAnd(Fixture f, Callable<T> work) {
    try {
      return f.shop.ship(1, work);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Work before the commit, such as a flush, during which the lock is lost. */
  private record Losing(MemoryStore store, Lease lease) implements TransactionSynchronization {
    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE - 1;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      store.steal(lease.name(), Duration.ofSeconds(30));
      assertThatThrownBy(() -> lease.extend(Duration.ofSeconds(30)))
          .isInstanceOf(LockLostException.class);
    }
  }
}
