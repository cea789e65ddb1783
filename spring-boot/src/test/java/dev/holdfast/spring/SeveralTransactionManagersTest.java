package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.runWithListeners;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.Locks;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction of one transaction manager inside a transaction of another one. Spring suspends the
 * callbacks of the outer transaction meanwhile, but its connection stays bound: the work still
 * writes to it.
 */
class SeveralTransactionManagersTest {
  @AfterEach
  void nothingIsLeftOnTheThread() {
    assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    assertThat(CheckedTransaction.outermost()).isNull();
  }

  /** Has the check, as a transaction manager that is a bean has. */
  private static <M extends PlatformTransactionManager & ConfigurableTransactionManager> M checked(
      M manager) {
    manager.addListener(new CommitCheckListener(manager));
    return manager;
  }

  private static JdbcTransactionManager other() {
    return new JdbcTransactionManager(PostgresServer.dataSource());
  }

  private static TransactionTemplate template(PlatformTransactionManager manager, int propagation) {
    TransactionTemplate template = new TransactionTemplate(manager);
    template.setPropagationBehavior(propagation);
    return template;
  }

  private static TransactionTemplate template(PlatformTransactionManager manager) {
    return template(manager, TransactionDefinition.PROPAGATION_REQUIRED);
  }

  private static String write(ShopFixture f) {
    f.orders().write("shipped"); // in the transaction of the fixture
    return "shipped";
  }

  private static void assertThatTheLockIsHeldUntilTheOuterCommit(
      ShopFixture f, PlatformTransactionManager inner) {
    f.template()
        .executeWithoutResult(
            outer -> {
              template(inner).executeWithoutResult(status -> f.ship(() -> write(f)));
              assertThat(f.isHeld()).isTrue();
            });
    assertThat(f.events()).containsExactly("begin", "commit");
    assertThat(f.heldAtEnd()).as("held at the commit of the work").containsExactly(true);
    assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
    assertThat(f.isHeld()).isFalse();
  }

  @Test
  void theLockIsHeldUntilTheOuterTransactionHasCommitted() {
    runWithListeners(f -> assertThatTheLockIsHeldUntilTheOuterCommit(f, checked(other())));
  }

  @Test
  void theLockIsHeldUntilThenAlsoIfTheInnerManagerHasNoCheck() {
    runWithListeners(f -> assertThatTheLockIsHeldUntilTheOuterCommit(f, other()));
  }

  @Test
  void theLockIsHeldUntilThenAlsoIfTheInnerManagerHasNoCallbacks() {
    runWithListeners(
        f -> {
          JdbcTransactionManager inner = checked(other());
          inner.setTransactionSynchronization(
              AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
          assertThatTheLockIsHeldUntilTheOuterCommit(f, inner);
        });
  }

  @Test
  @Tag("exclusion")
  void noOtherHolderWorksBeforeTheOuterTransactionHasCommitted() {
    runWithListeners(
        f -> {
          AtomicReference<Object> next = new AtomicReference<>();
          f.template()
              .executeWithoutResult(
                  outer -> {
                    template(checked(other()))
                        .executeWithoutResult(status -> f.ship(() -> write(f)));
                    Thread thread = new Thread(() -> next.set(nextHolder(f)));
                    thread.start();
                    join(thread);
                  });
          assertThat(next.get()).isInstanceOf(LockContendedException.class);
          assertThat(nextHolder(f)).isEqualTo("shipped");
        });
  }

  private static Object nextHolder(ShopFixture f) {
    try {
      return f.ship(f.orders()::readElsewhere);
    } catch (LockContendedException refused) {
      return refused;
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aCallThatRefusesTransactionsSeesTheOuterOne() {
    runWithListeners(
        f -> {
          JdbcTransactionManager inner = other();
          inner.setTransactionSynchronization(
              AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
          f.template()
              .executeWithoutResult(
                  outer ->
                      template(inner)
                          .executeWithoutResult(
                              status ->
                                  assertThatThrownBy(() -> f.shop().outside(1))
                                      .hasMessageContaining("was called inside a transaction")));
        });
  }

  @Test
  void aCallInTheOuterTransactionJoinsTheLockOfTheInnerOne() {
    runWithListeners(
        f ->
            f.template()
                .executeWithoutResult(
                    outer -> {
                      Lease first =
                          template(checked(other()))
                              .execute(status -> f.ship(() -> Locks.current().orElseThrow()));
                      assertThat(f.<Lease>ship(() -> Locks.current().orElseThrow()))
                          .isSameAs(first);
                    }));
  }

  @Test
  void aLossInTheInnerTransactionRollsBackBoth() {
    runWithListeners(
        f -> {
          RecordingTransactionManager inner =
              checked(new RecordingTransactionManager(PostgresServer.dataSource(), () -> {}));
          assertThatThrownBy(
                  () ->
                      f.template()
                          .executeWithoutResult(
                              outer -> {
                                Lease held = f.ship(() -> Locks.current().orElseThrow());
                                assertThatThrownBy(
                                        () ->
                                            template(inner)
                                                .executeWithoutResult(
                                                    status -> LockedTest.lose(f.store(), held)))
                                    .isInstanceOf(LockLostException.class);
                              }))
              .isInstanceOf(LockLostException.class);
          assertThat(inner.events()).containsExactly("begin", "rollback");
          assertThat(f.events()).containsExactly("begin", "rollback");
        });
  }

  @Test
  void aNewTransactionOfTheSameManagerReleasesItsLockAtItsOwnEnd() {
    runWithListeners(
        f -> {
          TransactionTemplate fresh =
              template(f.transactions(), TransactionDefinition.PROPAGATION_REQUIRES_NEW);
          f.template()
              .executeWithoutResult(
                  outer -> {
                    fresh.executeWithoutResult(status -> f.ship(() -> write(f)));
                    assertThat(f.isHeld()).isFalse();
                    assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
                  });
          assertThat(f.heldAtEnd()).containsExactly(true, false);
        });
  }

  @Test
  void aCallOutsideOfTheSuspendedTransactionReleasesItsLockAtOnce() {
    runWithListeners(
        f ->
            f.template()
                .executeWithoutResult(
                    outer ->
                        template(f.transactions(), TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
                            .executeWithoutResult(
                                status -> {
                                  f.ship(() -> "shipped");
                                  assertThat(f.isHeld()).isFalse();
                                  assertThat(f.shop().outside(1)).isEqualTo("done");
                                })));
  }

  /** The first manager has its resource bound under a third transaction. */
  @Test
  void theOutermostTransactionThatTakesTheWorkHoldsTheLock() {
    runWithListeners(
        f -> {
          JdbcTransactionManager second = checked(other());
          f.template()
              .executeWithoutResult(
                  outer ->
                      template(second)
                          .executeWithoutResult(
                              middle -> {
                                template(
                                        f.transactions(),
                                        TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                                    .executeWithoutResult(inner -> f.ship(() -> "shipped"));
                                assertThat(f.isHeld()).as("until the second ends").isTrue();
                              }));
          assertThat(f.heldAtEnd())
              .as("the new one, and the outer one")
              .containsExactly(true, false);
        });
  }

  /** Transactions that bind no resource which is known, such as those of JTA. */
  private static final class PlainTransactionManager extends AbstractPlatformTransactionManager {
    private static final long serialVersionUID = 1L;

    private final transient Deque<Object> active = new ArrayDeque<>();

    @Override
    protected Object doGetTransaction() {
      return active.isEmpty() ? new Object() : active.getFirst();
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
      return active.contains(transaction);
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      active.push(transaction);
    }

    @Override
    protected Object doSuspend(Object transaction) {
      return active.pop();
    }

    @Override
    protected void doResume(@Nullable Object transaction, Object suspended) {
      active.push(suspended);
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {}

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
      active.pop();
    }
  }

  @Test
  void aTransactionWithoutAKnownResourceHoldsTheLockAlike() {
    runWithListeners(
        f -> {
          PlainTransactionManager plain = checked(new PlainTransactionManager());
          template(plain)
              .executeWithoutResult(
                  outer -> {
                    f.template().executeWithoutResult(inner -> f.ship(() -> "shipped"));
                    assertThat(f.isHeld()).isTrue();
                  });
          assertThat(f.isHeld()).isFalse();
          template(plain)
              .executeWithoutResult(
                  outer -> {
                    for (int propagation :
                        List.of(
                            TransactionDefinition.PROPAGATION_REQUIRES_NEW,
                            TransactionDefinition.PROPAGATION_NOT_SUPPORTED)) {
                      template(plain, propagation)
                          .executeWithoutResult(inner -> f.ship(() -> "shipped"));
                      assertThat(f.isHeld()).isFalse();
                    }
                  });
        });
  }
}
