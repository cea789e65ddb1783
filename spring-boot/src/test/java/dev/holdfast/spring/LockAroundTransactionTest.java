package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.REQUEST;
import static dev.holdfast.spring.ShopFixture.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Transactions under a lock without the annotation: the recipes of docs/spring.md. */
class LockAroundTransactionTest {

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
          f.assertThatTheLossIsThrown(
              lease -> f.shop().inTransaction(() -> writeAndBeInterrupted(f)));
          assertThat(f.orders().readElsewhere()).as("why recipes are needed").isEqualTo("shipped");
        });
  }

  @Test
  void aTransactionalMethodThatRollsBackForEverythingAndRequiresTheLockLastIsRolledBack() {
    run(
        f -> {
          f.assertThatTheLossIsThrown(
              lease -> f.shop().inTransactionUnderTheLock(() -> writeAndBeInterrupted(f)));
          assertThat(f.orders().readElsewhere()).isEqualTo("new");

          assertThat(f.store().expire(NAME)).isTrue();
          f.assertThatTheLossIsThrown(lease -> f.shop().inTransactionUnderTheLock(f::writeAndLose));
          assertThat(f.orders().readElsewhere()).isEqualTo("new");
        });
  }

  @Test
  void aTemplateThatRequiresTheLockLastIsRolledBack() {
    run(
        f -> {
          f.assertThatTheLossIsThrown(
              lease ->
                  f.template()
                      .execute(
                          status -> {
                            f.writeAndLose();
                            lease.requireHeld(); // last: a loss rolls back
                            return "shipped";
                          }));
          f.assertRolledBack();
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
