package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.REQUEST;
import static dev.holdfast.spring.ShopFixture.runWithListeners;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions under locks, in a transaction manager that is a bean of the application. */
class CommitCheckTest {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(30);

  /** The interrupt for a loss comes on another thread. */
  private static boolean isInterruptedWithin(Duration time) {
    try {
      return new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }

  @Test
  void aLossRollsBackTheTransactionThatAnotherBeanBeganUnderTheLock() {
    runWithListeners(
        f -> {
          f.assertThatALossRollsBack(
              () -> f.shop().ship(1, () -> f.shop().inTransaction(f::writeAndLose)));
        });
  }

  @Test
  void aLossRollsBackATemplateUnderExecuteLocked() {
    runWithListeners(
        f -> {
          f.assertThatTheLossIsThrown(lease -> f.template().execute(status -> f.writeAndLose()));
          f.assertRolledBack();
        });
  }

  @Test
  void aTransactionCommitsUnderALockThatIsHeldAndWithoutALock() {
    runWithListeners(
        f -> {
          f.shop()
              .ship(
                  1,
                  () -> {
                    f.template().executeWithoutResult(status -> f.orders().write("shipped"));
                    return "done";
                  });
          assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
          f.template().executeWithoutResult(status -> f.orders().write("returned"));
          assertThat(f.orders().readElsewhere()).isEqualTo("returned");
        });
  }

  @Test
  void aTransactionThatOutlivesItsLockRollsBackAndSaysWhatToDo() {
    runWithListeners(
        f -> {
          f.assertThatThrownUnderTheLock(
                  lease ->
                      f.template()
                          .execute(
                              status -> {
                                f.orders().write("shipped");
                                lease.close();
                                return "shipped";
                              }))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("begin the transaction inside the lock");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
          try (Lease next = f.locks().acquire(REQUEST)) {
            assertThat(next.isHeld()).isTrue();
          }
        });
  }

  @Test
  void aLossOfALockFartherOutRollsBack() {
    runWithListeners(
        f -> {
          f.assertThatThrownUnderTheLock(
                  outer ->
                      f.shop()
                          .shipInOwnTransaction(
                              2,
                              () -> {
                                f.orders().write("shipped");
                                return LockedTest.lose(f.store(), outer);
                              }))
              .isInstanceOf(LockLostException.class)
              .hasMessageContaining(NAME);
          f.assertRolledBack();
        });
  }

  @Test
  void aLossInTheVeryLastCallbackRollsBack() {
    runWithListeners(
        f -> {
          Callable<String> shipping =
              () ->
                  f.template()
                      .execute(
                          status -> {
                            Callbacks.beforeCompletion(() -> LockedTest.lose(f.store()));
                            return f.write();
                          });

          f.assertThatALossRollsBack(() -> f.shop().ship(1, shipping));
        });
  }

  @Test
  void aLossOfALockThatTheTransactionHoldsRollsBackInTheVeryLastCallback() {
    runWithListeners(
        f -> {
          f.assertThatALossRollsBack(
              () ->
                  f.template()
                      .execute(
                          status -> {
                            Lease held =
                                f.ship(
                                    () -> {
                                      f.orders().write("shipped");
                                      return Locks.current().orElseThrow();
                                    });
                            Callbacks.beforeCompletion(() -> LockedTest.lose(f.store(), held));
                            return "shipped";
                          }));
        });
  }

  @Test
  void aLossWhileACommitRunsInterruptsTheThreadOnlyAfterIt() {
    runWithListeners(
        f -> {
          List<Boolean> interrupted = new ArrayList<>();
          f.transactions()
              .atCommit(
                  () -> {
                    LockedTest.lose(f.store());
                    interrupted.add(isInterruptedWithin(SHORT));
                  });
          f.assertThatTheLossIsThrown(
              lease -> {
                f.template().executeWithoutResult(status -> f.orders().write("shipped"));
                interrupted.add(isInterruptedWithin(LONG));
                return "shipped";
              });
          assertThat(interrupted).as("in the commit, and after it").containsExactly(false, true);
          assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
        });
  }

  @Test
  void aRollbackAfterALossIsNotInterrupted() {
    runWithListeners(
        f -> {
          List<Boolean> interrupted = new ArrayList<>();
          f.assertThatTheLossIsThrown(
              lease ->
                  f.template()
                      .execute(
                          status -> {
                            Callbacks.beforeCompletion(() -> LockedTest.lose(f.store()));
                            Callbacks.afterCompletion(
                                () -> interrupted.add(isInterruptedWithin(SHORT)));
                            return "shipped";
                          }));
          assertThat(interrupted).containsExactly(false);
          assertThat(Thread.interrupted()).isFalse();
        });
  }

  @Test
  void aSavepointIsCheckedWithTheTransactionAroundIt() {
    runWithListeners(
        f -> {
          TransactionTemplate nested = new TransactionTemplate(f.transactions());
          nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
          List<String> steps = new ArrayList<>();
          f.assertThatTheLossIsThrown(
              lease ->
                  f.template()
                      .execute(
                          status -> {
                            nested.execute(savepoint -> f.writeAndLose());
                            steps.add("after the savepoint");
                            return "shipped";
                          }));
          assertThat(steps).hasSize(1);
          f.assertRolledBack();
        });
  }

  /**
   * Runs work in a transaction whose rollback loses the lock, and asserts that this does not
   * interrupt the thread.
   */
  private static void assertThatALossInTheRollbackInterruptsNothing(
      Function<ShopFixture, String> work) {
    runWithListeners(
        f -> {
          List<Boolean> interrupted = new ArrayList<>();
          RecordingTransactionManager manager =
              new RecordingTransactionManager(
                  f.orders().dataSource(),
                  () -> {
                    LockedTest.lose(f.store());
                    interrupted.add(isInterruptedWithin(SHORT));
                  });
          manager.addListener(new CommitCheckListener(manager));
          TransactionTemplate losingAtEnd = new TransactionTemplate(manager);
          f.assertThatTheLossIsThrown(lease -> losingAtEnd.execute(status -> work.apply(f)));
          assertThat(interrupted).containsExactly(false);
        });
  }

  @Test
  void aLossInterruptsNoRollbackOfWorkThatFailed() {
    assertThatALossInTheRollbackInterruptsNothing(
        f -> {
          throw new IllegalArgumentException("refused");
        });
  }

  @Test
  void aLossInterruptsNoRollbackAfterACallbackThatFailed() {
    assertThatALossInTheRollbackInterruptsNothing(
        f -> {
          Callbacks.beforeCommit(
              () -> {
                throw new IllegalStateException("flush");
              });
          return "shipped";
        });
  }

  @Test
  void anInterruptThatTheWorkHasNotNoticedDoesNotReachTheRollback() {
    assertThatALossInTheRollbackInterruptsNothing(
        f -> {
          LockedTest.lose(f.store());
          while (!Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
          }
          throw new IllegalArgumentException("refused");
        });
  }

  @Test
  void aLockIsHeldAlsoInCallbacksAfterTheCompletion() {
    runWithListeners(
        f -> {
          List<Boolean> held = new ArrayList<>();
          f.template()
              .executeWithoutResult(
                  status -> {
                    f.ship(() -> "shipped");
                    Callbacks.afterCompletion(() -> held.add(f.isHeld()));
                  });
          assertThat(held).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  /** The callbacks of a transaction that Spring cannot resume are not called. */
  @Test
  void aTransactionThatCannotBeResumedReleasesItsLockWhenItRollsBack() {
    runWithListeners(
        f -> {
          assertThatThrownBy(() -> shipAndFailToResume(f)).hasMessage("resume");
          assertThat(f.isHeld()).isFalse();
          assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        });
  }

  /** Leaves the callbacks of a transaction behind, and with them the lease. */
  static void shipAndFailToResume(ShopFixture f) {
    f.template()
        .executeWithoutResult(
            status -> {
              f.ship(() -> "shipped");
              failToResume(f);
            });
  }

  private static void failToResume(ShopFixture f) {
    TransactionTemplate fresh = new TransactionTemplate(f.transactions());
    fresh.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public int getOrder() {
            return 0;
          }

          @Override
          public void resume() {
            throw new IllegalStateException("resume");
          }
        });
    fresh.executeWithoutResult(inner -> {});
  }

  @Test
  void aTransactionThatCannotBeResumedReleasesItsLockWhenItCommits() {
    runWithListeners(
        f -> {
          f.template()
              .executeWithoutResult(
                  status -> {
                    f.ship(() -> "shipped");
                    assertThatThrownBy(() -> failToResume(f)).hasMessage("resume");
                  });

          assertThat(f.events()).endsWith("commit");
          assertThat(f.isHeld()).isFalse();
        });
  }

  /** Spring commits after such an exception, unless it is set up to roll back. */
  @Test
  void aLossRollsBackAlsoIfACallbackBeforeTheCommitThrowsATransactionException() {
    runWithListeners(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.shipInOwnTransaction(
                          () -> {
                            f.orders().write("shipped");
                            Callbacks.beforeCommit(
                                () -> {
                                  throw new TransactionSystemException("other");
                                });
                            return LockedTest.lose(f.store());
                          }))
              .isInstanceOf(LockLostException.class);

          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aTransactionThatACallbackAfterTheCompletionBeginsIsCheckedByItself() {
    runWithListeners(
        f -> {
          RecordingTransactionManager unchecked =
              new RecordingTransactionManager(PostgresServer.dataSource(), () -> {});
          TransactionTemplate inCallback = new TransactionTemplate(unchecked);
          inCallback.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
          f.template()
              .executeWithoutResult(
                  status ->
                      Callbacks.afterCompletion(
                          () -> inCallback.executeWithoutResult(inner -> shipAndIgnoreTheLoss(f))));

          assertThat(unchecked.events()).containsExactly("begin", "rollback");
        });
  }

  private static void shipAndIgnoreTheLoss(ShopFixture f) {
    assertThatThrownBy(() -> f.ship(() -> LockedTest.lose(f.store())))
        .isInstanceOf(LockLostException.class);
  }
}
