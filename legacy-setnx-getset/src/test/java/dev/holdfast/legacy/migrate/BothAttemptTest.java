package dev.holdfast.legacy.migrate;

import static dev.holdfast.legacy.migrate.ScriptedPrimitive.failing;
import static dev.holdfast.legacy.migrate.ScriptedPrimitive.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockCapability;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An attempt at two locks: one of them can fail while the other does not. */
class BothAttemptTest {
  private final TwoLocks locks = new TwoLocks();
  private final List<String> journal = locks.journal;
  private final ScriptedPrimitive ofOld = locks.ofOld;
  private final ScriptedPrimitive ofNew = locks.ofNew;
  private final BothPrimitive both = locks.both;

  @Test
  @DisplayName("takes the old lock, then the new one")
  void takesTheOldLockFirst() {
    Outcome outcome = locks.attempted();

    assertThat(outcome).isInstanceOf(Grant.class);
    assertThat(journal).containsExactly("old attempt", "new attempt");
  }

  @Test
  @DisplayName("has the new lock's tokens")
  void hasTheNewLocksTokens() {
    ofOld.capabilities = EnumSet.noneOf(LockCapability.class);
    ofNew.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);

    Grant grant = locks.granted();

    assertThat(grant.name()).isEqualTo("name");
    assertThat(grant.token()).isEqualTo("new-token");
    assertThat(grant.fencingToken()).isEqualTo(OptionalLong.of("new".length()));
  }

  @Test
  @DisplayName("has no fencing token where both locks number grants: two counters are two orders")
  void hasNoTokenWhereBothHaveThem() {
    ofOld.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);
    ofNew.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);

    assertThat(locks.granted().fencingToken()).isEmpty();
    assertThat(both.capabilities()).isEmpty();
  }

  @Test
  @DisplayName("is refused by the old lock without asking for the new one")
  void isRefusedByTheOldLock() {
    Refusal refusal = new Refusal(new LockVotes(0, 1, 0));
    ofOld.attempt = () -> now(refusal);

    assertThat(locks.attempted()).isEqualTo(refusal);
    assertThat(journal).containsExactly("old attempt");
  }

  @Test
  @DisplayName("fails with the old lock's outage without taking the new one")
  void failsWithTheOldLocksOutage() {
    ofOld.attempt = failing(locks.outage);
    ofNew.inspect = failing(locks.otherOutage);

    assertThatThrownBy(locks::attempted).cause().isSameAs(locks.outage);
    assertThat(journal).containsExactly("old attempt", "new inspect");
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName(
      "is not over in an outage of the old lock before the new one's server was asked,"
          + " so that what was cut with the old connection costs no second attempt")
  void outageOfTheOldLockIsReportedAfterTheNewOneWasAsked() {
    CompletableFuture<Optional<LockStatus>> inspected = new CompletableFuture<>();
    ofOld.attempt = failing(locks.outage);
    ofNew.inspect = () -> inspected;

    CompletableFuture<Outcome> attempt = both.attempt(TwoLocks.ATTEMPT);

    assertThat(attempt).isNotDone();
    inspected.complete(Optional.empty());
    assertThatThrownBy(attempt::join).cause().isSameAs(locks.outage);
  }

  @Test
  @DisplayName("releases the old lock if the new one is refused")
  void releasesTheOldLockIfTheNewOneIsRefused() {
    Refusal refusal = new Refusal(new LockVotes(1, 2, 0));
    ofNew.attempt = () -> now(refusal);

    assertThat(locks.attempted()).isEqualTo(refusal);
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("releases the old lock in an outage of the new one")
  void releasesTheOldLockInAnOutageOfTheNewOne() {
    ofNew.attempt = failing(locks.outage);

    assertThatThrownBy(locks::attempted).cause().isSameAs(locks.outage);
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("releases the old lock if the new one throws")
  void releasesTheOldLockIfTheNewOneThrows() {
    ofNew.attempt =
        () -> {
          throw locks.outage;
        };

    assertThatThrownBy(locks::attempted).cause().isSameAs(locks.outage);
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("fails, and releases the old lock, if the new one returns null")
  void failsAndReleasesTheOldLockIfTheNewOneReturnsNull() {
    ofNew.attempt = () -> CompletableFuture.completedFuture(null);

    assertThat(both.attempt(TwoLocks.ATTEMPT)).isCompletedExceptionally();
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("completes after the old lock is released")
  void completesAfterTheOldLockIsReleased() {
    CompletableFuture<Optional<LossReason>> released = new CompletableFuture<>();
    ofNew.attempt = () -> now(new Refusal(new LockVotes(0, 1, 0)));
    ofOld.release = () -> released;

    CompletableFuture<Outcome> attempt = both.attempt(TwoLocks.ATTEMPT);

    assertThat(attempt).isNotDone();
    released.complete(Optional.empty());
    assertThat(attempt).isCompleted();
  }

  @Test
  @DisplayName("is refused even if releasing the old lock fails, and that is logged")
  void isRefusedEvenIfReleasingTheOldLockFails() {
    Refusal refusal = new Refusal(new LockVotes(0, 1, 0));
    ofNew.attempt = () -> now(refusal);
    ofOld.release = failing(locks.outage);

    List<LogRecord> logged = logged(() -> assertThat(locks.attempted()).isEqualTo(refusal));

    assertThat(logged)
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.getLevel()).isEqualTo(Level.WARNING);
              assertThat(record.getMessage()).contains("'name'", "blocks other clients");
            });
  }

  @Test
  @DisplayName("reports the new lock's outage even if releasing the old lock fails")
  void reportsTheNewLocksOutageEvenIfReleasingTheOldLockFails() {
    ofNew.attempt = failing(locks.outage);
    ofOld.release = failing(locks.otherOutage);

    assertThat(logged(() -> assertThatThrownBy(locks::attempted).cause().isSameAs(locks.outage)))
        .hasSize(1);
  }

  @Test
  @DisplayName("is an outage if the old lock ends before the new one is granted")
  void isAnOutageIfTheOldLockEndsBeforeTheNewOneIsGranted() {
    ofNew.attempt =
        () -> {
          locks.clock.pass(TwoLocks.TTL);
          return now(ofNew.grantUntil(locks.in(10)));
        };

    assertThatThrownBy(locks::attempted).hasCauseInstanceOf(LockOutageException.class);
    assertThat(journal).endsWith("new release", "old release");
  }

  @Test
  @DisplayName("does not block on the thread that the old lock's answer came on")
  void doesNotBlockOnAnotherThread() {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    ofOld.attempt = () -> answer;
    ofNew.attempt = () -> now(new Refusal(new LockVotes(0, 1, 0)));

    CompletableFuture<Outcome> attempt = both.attempt(TwoLocks.ATTEMPT);
    answer.complete(ofOld.grantUntil(locks.in(10)));

    assertThat(attempt).isCompleted();
    assertThat(journal).containsExactly("old attempt", "new attempt", "old release");
  }

  @Test
  @DisplayName("ends with the lock that ends first")
  void endsWithTheFirst() {
    ofOld.attempt = () -> now(ofOld.grantUntil(locks.in(4)));
    assertThat(locks.granted().validUntil()).isEqualTo(locks.in(4));

    ofNew.attempt = () -> now(ofNew.grantUntil(locks.in(3)));
    assertThat(locks.granted().validUntil()).isEqualTo(locks.in(3));
  }

  @Test
  @DisplayName("ends by the earlier reading of each clock")
  void endsByTheEarlierReadingOfEachClock() {
    ClockReading soonByWall = new ClockReading(locks.in(9).nanos(), locks.in(1).wallMicros());
    ClockReading soonByNanos = new ClockReading(locks.in(2).nanos(), locks.in(8).wallMicros());
    ofOld.attempt = () -> now(ofOld.grantUntil(soonByWall));
    ofNew.attempt = () -> now(ofNew.grantUntil(soonByNanos));

    assertThat(locks.granted().validUntil())
        .isEqualTo(new ClockReading(locks.in(2).nanos(), locks.in(1).wallMicros()));
  }

  private static List<LogRecord> logged(Runnable act) {
    List<LogRecord> records = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            records.add(record);
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger(MigrationProvider.class.getName());
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
    try {
      act.run();
    } finally {
      logger.setUseParentHandlers(true);
      logger.removeHandler(handler);
    }
    return records;
  }
}
