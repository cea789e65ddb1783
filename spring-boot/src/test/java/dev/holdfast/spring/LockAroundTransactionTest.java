package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Transactions under a lock without the annotation: the recipes of docs/spring.md. */
class LockAroundTransactionTest {
  private static final LockRequest REQUEST = LockRequest.of(NAME, Duration.ofSeconds(30));

  /** Writes, loses the lock, and ends as work does that waits and is interrupted for the loss. */
  private static String writeAndBeInterrupted(ShopFixture f) throws InterruptedException {
    f.orders().write("shipped");
    LockedTest.lose(f.store());
    boolean isOver = new CountDownLatch(1).await(1, TimeUnit.MINUTES);
    throw new AssertionError("not interrupted: " + isOver);
  }

  @Test
  void theInterruptOfALossIsAnExceptionForWhichSpringCommits() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.locks()
                          .executeLocked(
                              REQUEST,
                              lease -> f.shop().inTransaction(() -> writeAndBeInterrupted(f))))
              .isInstanceOf(LockLostException.class);
          assertThat(f.orders().readElsewhere()).as("why recipes are needed").isEqualTo("shipped");
        });
  }

  @Test
  void aTransactionalMethodThatRollsBackForEverythingAndRequiresTheLockLastIsRolledBack() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.locks()
                          .executeLocked(
                              REQUEST,
                              lease ->
                                  f.shop()
                                      .inTransactionUnderTheLock(() -> writeAndBeInterrupted(f))))
              .isInstanceOf(LockLostException.class);
          assertThat(f.orders().readElsewhere()).isEqualTo("new");

          assertThat(f.store().expire(NAME)).isTrue();
          assertThatThrownBy(
                  () ->
                      f.locks()
                          .executeLocked(
                              REQUEST,
                              lease ->
                                  f.shop()
                                      .inTransactionUnderTheLock(
                                          () -> {
                                            f.orders().write("shipped");
                                            return LockedTest.lose(f.store());
                                          })))
              .isInstanceOf(LockLostException.class);
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aTemplateThatRequiresTheLockLastIsRolledBack() {
    run(
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
                                            LockedTest.lose(f.store());
                                            lease.requireHeld(); // last: a loss rolls back
                                            return "shipped";
                                          })))
              .isInstanceOf(LockLostException.class);
          assertThat(f.events()).containsExactly("begin", "rollback");
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aTemplateUnderALockThatIsHeldCommitsBeforeTheRelease() {
    run(
        f -> {
          String result =
              f.locks()
                  .executeLocked(
                      REQUEST,
                      lease ->
                          f.template()
                              .execute(
                                  status -> {
                                    f.orders().write("shipped");
                                    lease.requireHeld();
                                    return "shipped";
                                  }));
          assertThat(result).isEqualTo("shipped");
          assertThat(f.heldAtEnd()).containsExactly(true);
          assertThat(f.isHeld()).isFalse();
          assertThat(f.orders().readElsewhere()).isEqualTo("shipped");
        });
  }
}
