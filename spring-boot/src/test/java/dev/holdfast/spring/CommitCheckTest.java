package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.runWithListeners;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Transactions that begin under a lock, in managers that have the listeners of the context. */
class CommitCheckTest {
  private static final LockRequest REQUEST = LockRequest.of(NAME, Duration.ofSeconds(30));

  private static String writeAndLose(ShopFixture f) {
    f.orders().write("shipped");
    return LockedTest.lose(f.store());
  }

  @Test
  void aLossRollsBackTheTransactionThatAnotherBeanBeganUnderTheLock() {
    runWithListeners(
        f -> {
          assertThatThrownBy(
                  () -> f.shop().ship(1, () -> f.shop().inTransaction(() -> writeAndLose(f))))
              .isInstanceOf(LockLostException.class);
          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aLossRollsBackATemplateUnderExecuteLocked() {
    runWithListeners(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.locks()
                          .executeLocked(
                              REQUEST, lease -> f.template().execute(status -> writeAndLose(f))))
              .isInstanceOf(LockLostException.class);
          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
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
          assertThatThrownBy(
                  () ->
                      f.locks()
                          .executeLocked(
                              REQUEST,
                              lease ->
                                  f.template()
                                      .execute(
                                          status -> {
                                            f.orders().write("shipped");
                                            lease.close();
                                            return "shipped";
                                          })))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("begin the transaction inside the lock");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
          try (Lease next = f.locks().acquire(REQUEST)) {
            assertThat(next.isHeld()).isTrue();
          }
        });
  }
}
