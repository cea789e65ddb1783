package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.run;
import static dev.holdfast.spring.ShopFixture.runWithListeners;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spring.ShopFixture.BusinessException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Locked methods inside of transactions on a real server, and with a transaction of their own. */
class LockedInTransactionsTest {
  @Test
  void theLockIsOutsideTheTransactionOfTheSameMethod() {
    run(
        f -> {
          String result = f.shipInOwnTransaction(f::write);

          assertThat(result).isEqualTo("shipped");
          assertThat(f.events()).containsExactly("begin", "commit");
          assertThat(f.heldAtEnd()).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
          assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
        });
  }

  @Test
  void aCallThatDoesNotGetTheLockBeginsNoTransaction() {
    run(
        f -> {
          f.store().steal(NAME, Duration.ofSeconds(30));

          assertThatThrownBy(() -> f.shipInOwnTransaction(f::write))
              .isInstanceOf(LockContendedException.class);
          assertThat(f.events()).isEmpty();
        });
  }

  @Test
  void aLossRollsBackTheTransactionOfTheSameMethodWhateverTheWorkThrew() {
    run(
        f -> {
          f.assertThatALossRollsBack(
              () ->
                  f.shipInOwnTransaction(
                      () -> {
                        f.writeAndLose();
                        throw new BusinessException();
                      }));
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @Test
  void aLossDuringTheCommitInterruptsNothing() {
    run(
        f -> {
          f.transactions().atCommit(() -> loseUninterrupted(f));

          assertThatThrownBy(() -> f.shipInOwnTransaction(f::write))
              .isInstanceOf(LockLostException.class);
          assertThat(f.events()).containsExactly("begin", "commit");
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aLossOfTheLockOfAnOuterMethodInterruptsNoCommit(int inner) {
    run(
        f -> {
          f.transactions().atCommit(() -> loseUninterrupted(f));

          assertThatThrownBy(
                  () ->
                      f.shop()
                          .ship(
                              1,
                              () -> {
                                f.shop().shipInOwnTransaction(inner, f::write);
                                assertThat(Thread.interrupted()).as("after the commit").isTrue();
                                return "shipped";
                              }))
              .isInstanceOf(LockLostException.class)
              .satisfies(lost -> assertThat(lost.getCause() instanceof AssertionError).isFalse());
          assertThat(f.events()).containsExactly("begin", "commit");
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  private static void loseUninterrupted(ShopFixture f) {
    Lease lease = Locks.requireCurrent(NAME);
    f.store().steal(NAME, Duration.ofSeconds(30));
    assertThatThrownBy(() -> lease.extend(Duration.ofSeconds(30)))
        .isInstanceOf(LockLostException.class);
    try {
      assertThat(new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS)).isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted during the commit", e);
    }
  }

  @Test
  void aStageOrAPublisherIsRefusedAlsoIfItsLockIsHeldByTheTransaction() {
    run(
        f ->
            f.template()
                .executeWithoutResult(
                    status -> {
                      f.ship(f::write);

                      assertThatThrownBy(() -> f.shop().stage(1))
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("which would end before the work");
                      assertThatThrownBy(() -> f.shop().mono(1))
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("which would end before the work");
                    }));
  }

  @Test
  void aPublisherWhoseOwnTransactionIsOneOfTheThreadIsRefused() {
    run(
        f -> {
          assertThatThrownBy(() -> f.shop().monoInOwnTransaction(1).block())
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("use a ReactiveTransactionManager");
          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aStageThatIsAtWorkWhenItsOwnTransactionEndsIsRefused() {
    run(
        f -> {
          CompletableFuture<String> done = CompletableFuture.completedFuture("done");
          assertThat(f.shop().stageInOwnTransaction(1, done))
              .succeedsWithin(Duration.ofSeconds(10))
              .isEqualTo("done");
          assertThat(f.events()).containsExactly("begin", "commit");

          assertThatThrownBy(() -> f.shop().stageInOwnTransaction(1, new CompletableFuture<>()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("returns a CompletionStage, and its @Transactional began")
              .hasMessageContaining("begin the transaction in the work");
          assertThat(f.events()).endsWith("begin", "rollback");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aStageBehindAPlainResultIsRefusedInATransactionIfItIsAtWork() {
    run(
        f -> {
          CompletableFuture<String> done = CompletableFuture.completedFuture("done");
          CompletableFuture<String> same = f.template().execute(status -> f.ship(() -> done));
          assertThat(same).isSameAs(done);
          assertThatThrownBy(() -> f.template().execute(status -> f.ship(CompletableFuture::new)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("which would end before the work");
          assertThat(f.events()).containsExactly("begin", "commit", "begin", "rollback");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aLockThatEndsBeforeItsTransactionRollsBackAndSaysWhatToDo() {
    run(
        f -> {
          LockRequest request = LockRequest.of(NAME, Duration.ofSeconds(30));
          assertThatThrownBy(
                  () ->
                      f.template()
                          .execute(
                              status -> {
                                try {
                                  return f.locks()
                                      .executeLocked(request, lease -> f.ship(f::write));
                                } catch (InterruptedException e) {
                                  throw new AssertionError(e);
                                }
                              }))
              .isInstanceOf(IllegalStateException.class)
              .hasMessage(
                  "the lock 'order-1' was released before the transaction that worked under it has"
                      + " committed; begin the transaction inside the lock");
          f.assertRolledBack();
        });
  }

  @Test
  void aCallAfterTheWorkReleasedTheLockOfItsTransactionIsRefused() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.template()
                          .execute(
                              status -> {
                                f.ship(() -> Locks.current().orElseThrow().release());
                                return f.ship(f::write);
                              }))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("begin the transaction inside the lock");
          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aTransactionThatEndsOnAnotherThreadLeavesNoLeaseOnItsThread() {
    run(
        f -> {
          TransactionSynchronizationManager.initSynchronization();
          TransactionSynchronizationManager.setActualTransactionActive(true);
          try {
            f.ship(f::write);
            List<TransactionSynchronization> known =
                TransactionSynchronizationManager.getSynchronizations();
            Thread timeout =
                new Thread(
                    () ->
                        known.forEach(
                            each ->
                                each.afterCompletion(TransactionSynchronization.STATUS_UNKNOWN)));
            timeout.start();
            timeout.join();
          } finally {
            TransactionSynchronizationManager.clear();
          }
          assertThat(f.isHeld()).isFalse();

          assertThat(f.shop().<Boolean>ship(1, f::isHeld)).isTrue();
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aThreadLocksAgainAfterATransactionWhoseEndWasNotSignalled() {
    run(
        f -> {
          assertThatThrownBy(() -> CommitCheckTest.shipAndFailToResume(f)).hasMessage("resume");
          Lease left = f.ship(() -> Locks.current().orElseThrow());
          f.store().expire(NAME);
          assertThatThrownBy(() -> left.extend(Duration.ofSeconds(30)))
              .isInstanceOf(LockLostException.class);

          assertThat(f.<String>ship(() -> "shipped")).isEqualTo("shipped");
          assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        });
  }

  private static int callbacksAfterCallsForTwoLocks(ShopFixture f) {
    return f.template()
        .execute(
            status -> {
              for (int i = 0; i < 50; i++) {
                f.ship(() -> "shipped");
                ship(f, 2, () -> "shipped");
              }
              return TransactionSynchronizationManager.getSynchronizations().size();
            });
  }

  private static <T> T ship(ShopFixture f, int id, Callable<T> work) {
    try {
      return f.shop().ship(id, work);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void callsForTwoLocksInTurnRegisterNoMoreCallbacksThanTwo() {
    run(f -> assertThat(callbacksAfterCallsForTwoLocks(f)).isEqualTo(2));
    runWithListeners(f -> assertThat(callbacksAfterCallsForTwoLocks(f)).isEqualTo(2));
  }

  @Test
  void theCheckComesAfterWorkBeforeTheCommitThatALaterCallRegistered() {
    run(
        f ->
            assertThatThrownBy(
                    () ->
                        f.template()
                            .executeWithoutResult(
                                status -> {
                                  Lease first = f.ship(() -> Locks.current().orElseThrow());
                                  ship(f, 2, () -> "shipped");
                                  f.ship(
                                      () -> {
                                        TransactionSynchronizationManager.registerSynchronization(
                                            new Losing(f.store(), first));
                                        return "shipped";
                                      });
                                }))
                .isInstanceOf(LockLostException.class));
  }

  @Test
  void anExceptionForWhichSpringCommitsStillCommitsWhileTheLockIsHeld() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.shipInOwnTransaction(
                          () -> {
                            f.orders().write("refused");
                            throw new BusinessException();
                          }))
              .isInstanceOf(BusinessException.class);
          assertThat(f.orders().readElsewhere()).isEqualTo("refused");
        });
  }

  @Test
  void aCallersTransactionHoldsTheLockUntilItHasCommitted() {
    run(
        f -> {
          boolean heldAfterCall =
              f.template()
                  .execute(
                      status -> {
                        f.ship(f::write);
                        return f.isHeld();
                      });

          assertThat(heldAfterCall).isTrue();
          assertThat(f.events()).containsExactly("begin", "commit");
          assertThat(f.heldAtEnd()).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aCallersTransactionReleasesTheLockAfterARollback() {
    run(
        f -> {
          f.template()
              .executeWithoutResult(
                  status -> {
                    f.ship(f::write);
                    status.setRollbackOnly();
                  });

          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.heldAtEnd()).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aLossRollsBackTheCallersTransactionAlsoIfTheCallerCatchesIt() {
    run(
        f -> {
          f.assertThatALossRollsBack(
              () ->
                  f.template()
                      .executeWithoutResult(
                          status ->
                              assertThatThrownBy(() -> f.ship(f::writeAndLose))
                                  .isInstanceOf(LockLostException.class)));
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theLossIsCheckedAfterAllWorkBeforeTheCommitThatTheMethodRegistered(
      boolean isOwnTransaction) {
    run(
        f -> {
          Callable<String> work =
              () -> {
                f.orders().write("shipped");
                TransactionSynchronizationManager.registerSynchronization(
                    new Losing(f.store(), Locks.current().orElseThrow()));
                return "done";
              };

          f.assertThatALossRollsBack(
              () -> {
                if (isOwnTransaction) {
                  f.shipInOwnTransaction(work);
                } else {
                  f.template().execute(status -> f.ship(work));
                }
              });
        });
  }

  @Test
  void aSecondCallInTheSameTransactionJoins() {
    run(
        f -> {
          Callable<String> token = () -> Locks.current().orElseThrow().token();
          boolean same =
              f.template()
                  .execute(
                      status -> {
                        String first = f.ship(token);
                        return first.equals(f.ship(token));
                      });

          assertThat(same).isTrue();
          assertThat(f.events()).containsExactly("begin", "commit");
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aNewTransactionJoinsTheLockOfTheSuspendedOneAndIsRolledBackByItsLoss() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.template()
                          .executeWithoutResult(
                              status -> {
                                f.ship(() -> "done");
                                assertThatThrownBy(
                                        () -> f.shop().shipInNewTransaction(1, f::writeAndLose))
                                    .isInstanceOf(LockLostException.class);
                                assertThat(f.events())
                                    .containsExactly("begin", "begin", "rollback");
                              }))
              .isInstanceOf(LockLostException.class);
          assertThat(f.events()).containsExactly("begin", "begin", "rollback", "rollback");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aMethodMayRefuseATransaction() {
    run(
        f -> {
          assertThat(f.shop().outside(1)).isEqualTo("done");
          f.template()
              .executeWithoutResult(
                  status ->
                      assertThatThrownBy(() -> f.shop().outside(1))
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("Shop.outside was called inside a transaction"));
          assertThat(f.isHeld()).isFalse();
        });
  }

  @Test
  void aStageAndAPublisherAreRefusedInsideATransaction() {
    run(
        f -> {
          f.template()
              .executeWithoutResult(
                  status -> {
                    assertThatThrownBy(() -> f.shop().stage(1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would end before the work");
                    assertThatThrownBy(() -> f.shop().mono(1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("returns a publisher");
                  });
          assertThat(f.isHeld()).isFalse();
        });
  }

  /** Work before the commit, such as a flush, during which the lock is lost. */
  private record Losing(MemoryStore store, Lease lease) implements TransactionSynchronization {
    @Override
    public void beforeCommit(boolean readOnly) {
      store.steal(lease.name(), Duration.ofSeconds(30));
      assertThatThrownBy(() -> lease.extend(Duration.ofSeconds(30)))
          .isInstanceOf(LockLostException.class);
    }
  }
}
