package dev.holdfast.spring;

import static dev.holdfast.spring.ShopFixture.NAME;
import static dev.holdfast.spring.ShopFixture.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Logs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;

/** The order of locks and commits as a second connection to a real server sees it. */
class CommitOrderTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  /** The next holder of the order's lock, which reads on its own connection. */
  private static CompletableFuture<Integer> nextHolder(ShopFixture f) {
    LockRequest request = LockRequest.of(NAME, TTL).waitAtMost(TTL);
    return CompletableFuture.supplyAsync(
        () -> {
          try (Lease lease = f.locks().acquire(request)) {
            lease.requireHeld();
            return f.orders().countElsewhere();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static Callable<String> inserting(
      ShopFixture f, AtomicReference<CompletableFuture<Integer>> seen) {
    return () -> {
      seen.set(nextHolder(f));
      f.orders().insert(2);
      return "inserted";
    };
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theNextHolderSeesTheCommitHoweverLongItTakes(boolean isOwnTransaction) {
    run(
        f -> {
          f.orders().slowCommits(300);
          AtomicReference<CompletableFuture<Integer>> seen = new AtomicReference<>();
          String inserted =
              isOwnTransaction
                  ? f.shipInOwnTransaction(inserting(f, seen))
                  : f.template().execute(status -> f.ship(inserting(f, seen)));

          assertThat(inserted).isEqualTo("inserted");
          assertThat(seen.get()).succeedsWithin(TTL).isEqualTo(2);
        });
  }

  @ParameterizedTest
  @EnumSource(
      value = Isolation.class,
      names = {"READ_COMMITTED", "REPEATABLE_READ"})
  void aSnapshotThatWasReadBeforeTheLockIsNotProtectedByIt(Isolation isolation) {
    run(
        f -> {
          f.template().setIsolationLevel(isolation.value());
          String underTheLock =
              f.template()
                  .execute(
                      status -> {
                        assertThat(f.orders().read()).isEqualTo("new");
                        shipElsewhere(f);
                        return f.ship(f.orders()::read);
                      });

          assertThat(underTheLock)
              .isEqualTo(isolation == Isolation.REPEATABLE_READ ? "new" : "shipped");
        });
  }

  /** Ships as the holder before does, which has committed and released. */
  private static void shipElsewhere(ShopFixture f) {
    CompletableFuture<Void> other =
        CompletableFuture.runAsync(
            () ->
                f.template()
                    .executeWithoutResult(
                        status ->
                            f.ship(
                                () -> {
                                  f.orders().write("shipped");
                                  return "done";
                                })));
    assertThat(other).succeedsWithin(TTL);
  }

  @Test
  void aLockInsideASnapshotIsSafeIfItComesBeforeTheFirstRead() {
    run(
        f -> {
          f.template().setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
          String underTheLock =
              f.template()
                  .execute(
                      status -> {
                        shipElsewhere(f);
                        return f.ship(f.orders()::read);
                      });
          assertThat(underTheLock).isEqualTo("shipped");
        });
  }

  @Test
  void theTokenInTheSameTransactionRefusesAHolderThatDoesNotKnowOfItsLoss() {
    run(
        f -> {
          assertThatThrownBy(
                  () ->
                      f.shipInOwnTransaction(
                          () -> {
                            Lease late = Locks.current().orElseThrow();
                            cancelByTheNextHolder(f);
                            late.requireHeld(); // its own clock has nothing against it
                            return writeFenced(f, late, "shipped");
                          }))
              .isInstanceOf(StaleHolderException.class);
          assertThat(f.events()).endsWith("rollback");
          assertThat(f.orders().readElsewhere()).isEqualTo("cancelled");
        });
  }

  /** The storage has seen the token of a later holder. */
  private static final class StaleHolderException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static String writeFenced(ShopFixture f, Lease lease, String state) {
    if (!f.orders().writeFenced(state, lease.fencingToken().orElseThrow())) {
      throw new StaleHolderException(); // unchecked: the transaction rolls back
    }
    return state;
  }

  private static void cancelByTheNextHolder(ShopFixture f) {
    assertThat(f.store().expire(NAME)).isTrue();
    CompletableFuture<String> next =
        CompletableFuture.supplyAsync(
            () ->
                f.template()
                    .execute(
                        status ->
                            f.ship(
                                () -> writeFenced(f, Locks.current().orElseThrow(), "cancelled"))));
    assertThat(next).succeedsWithin(TTL);
  }

  /** Writes, and loses the lock after its check and before the commit. */
  private static String shipAndLoseDuringTheCommit(ShopFixture f) {
    Lease lease = Locks.current().orElseThrow();
    f.orders().write("shipped");
    f.transactions()
        .atCommit(
            () -> {
              f.store().steal(NAME, TTL);
              assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
            });
    return "shipped";
  }

  @Test
  void aLossDuringTheCommitOfACallersTransactionIsWarnedOfAndCounted() {
    run(
        f -> {
          List<Long> overruns = Overruns.of(f.locks());
          try (Logs logs = new Logs()) {
            f.template().execute(status -> f.ship(() -> shipAndLoseDuringTheCommit(f)));

            assertThat(f.orders().readElsewhere()).as("the commit stands").isEqualTo("shipped");
            Eventually.soon().untilAsserted(() -> assertThat(overruns).hasSize(1));
            assertThat(overruns.get(0)).isBetween(0L, TimeUnit.MINUTES.toNanos(1));
            assertThat(logs.warnings())
                .anyMatch(each -> each.matches(".*'order-1' had been lost \\(TAKEN\\) \\d+ ms.*"));
          }
        });
  }

  @Test
  void aLossDuringTheCommitOfTheSameMethodIsThrownAndCounted() {
    run(
        f -> {
          List<Long> overruns = Overruns.of(f.locks());
          assertThatThrownBy(() -> f.shipInOwnTransaction(() -> shipAndLoseDuringTheCommit(f)))
              .isInstanceOf(LockLostException.class);

          assertThat(f.events()).containsExactly("begin", "commit");
          assertThat(f.orders().readElsewhere()).as("the commit stands").isEqualTo("shipped");
          Eventually.soon().untilAsserted(() -> assertThat(overruns).hasSize(1));
        });
  }
}
