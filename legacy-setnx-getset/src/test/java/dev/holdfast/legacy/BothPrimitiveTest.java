package dev.holdfast.legacy;

import static dev.holdfast.legacy.ScriptedPrimitive.failing;
import static dev.holdfast.legacy.ScriptedPrimitive.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.core.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Every way in which one of two locks can fail while the other does not. */
class BothPrimitiveTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Attempt ATTEMPT = new Attempt("name", "me", TTL, true);
  private static final String ON_CALLER = " on the caller's thread";

  private final HandClock clock = new HandClock();
  private final List<String> journal = new ArrayList<>();
  private final ScriptedPrimitive ofOld = new ScriptedPrimitive("old", journal, in(10));
  private final ScriptedPrimitive ofNew = new ScriptedPrimitive("new", journal, in(10));
  private final BothPrimitive both = new BothPrimitive(over(ofOld), over(ofNew), clock);
  private final LockBackendException outage = outage("the one");
  private final LockBackendException otherOutage = outage("the other");

  /** Stands still until a test moves it. */
  private static final class HandClock implements Clock {
    private Moment now = new Moment(-7, 1_700_000_000_000_000L);

    @Override
    public long nanos() {
      return now.nanos();
    }

    @Override
    public long wallMicros() {
      return now.wallMicros();
    }
  }

  @Nested
  class AnAttempt {
    @Test
    @DisplayName("takes the old lock, then the new one")
    void takesTheOldLockFirst() {
      Outcome outcome = attempted();

      assertThat(outcome).isInstanceOf(Grant.class);
      assertThat(journal).containsExactly("old attempt" + ON_CALLER, "new attempt" + ON_CALLER);
    }

    @Test
    @DisplayName("has the new lock's tokens")
    void hasTheNewLocksTokens() {
      ofOld.capabilities = EnumSet.noneOf(LockCapability.class);
      ofNew.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);

      Grant grant = granted();

      assertThat(grant.name()).isEqualTo("name");
      assertThat(grant.token()).isEqualTo("new-token");
      assertThat(grant.fencingToken()).isEqualTo(OptionalLong.of("new".length()));
    }

    @Test
    @DisplayName("has no fencing token where both locks number grants: two counters are two orders")
    void hasNoTokenWhereBothHaveThem() {
      ofOld.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);
      ofNew.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);

      assertThat(granted().fencingToken()).isEmpty();
      assertThat(both.capabilities()).isEmpty();
    }

    @Test
    @DisplayName("is refused by the old lock without asking for the new one")
    void isRefusedByTheOldLock() {
      Refusal refusal = new Refusal(0, 1, 0);
      ofOld.attempt = () -> now(refusal);

      assertThat(attempted()).isEqualTo(refusal);
      assertThat(journal).containsExactly("old attempt" + ON_CALLER);
    }

    @Test
    @DisplayName("fails with the old lock's outage without taking the new one")
    void failsWithTheOldLocksOutage() {
      ofOld.attempt = failing(outage);
      ofNew.inspect = failing(otherOutage);

      assertThatThrownBy(BothPrimitiveTest.this::attempted).cause().isSameAs(outage);
      assertThat(journal).containsExactly("old attempt" + ON_CALLER, "new inspect");
    }

    @Test
    @DisplayName(
        "FAULT-5: is not over in an outage of the old lock before the new one's server was asked,"
            + " so that what was cut with the old connection costs no second attempt")
    void isNotOverInAnOutageOfTheOldLockBeforeTheNewOneWasAsked() {
      CompletableFuture<Optional<LockStatus>> inspected = new CompletableFuture<>();
      ofOld.attempt = failing(outage);
      ofNew.inspect = () -> inspected;

      CompletableFuture<Outcome> attempt = both.attempt(ATTEMPT).toCompletableFuture();

      assertThat(attempt).isNotDone();
      inspected.complete(Optional.empty());
      assertThatThrownBy(attempt::join).cause().isSameAs(outage);
    }

    @Test
    @DisplayName("gives the old lock back when the new one is refused")
    void givesTheOldLockBackWhenTheNewOneIsRefused() {
      Refusal refusal = new Refusal(1, 2, 0);
      ofNew.attempt = () -> now(refusal);

      assertThat(attempted()).isEqualTo(refusal);
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("gives the old lock back when nobody answers for the new one")
    void givesTheOldLockBackInAnOutageOfTheNewOne() {
      ofNew.attempt = failing(outage);

      assertThatThrownBy(BothPrimitiveTest.this::attempted).cause().isSameAs(outage);
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("gives the old lock back when the new one throws")
    void givesTheOldLockBackWhenTheNewOneThrows() {
      ofNew.attempt =
          () -> {
            throw outage;
          };

      assertThatThrownBy(BothPrimitiveTest.this::attempted).cause().isSameAs(outage);
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("fails, and gives the old lock back, when the new one gives no answer")
    void failsWhenTheNewOneGivesNoAnswer() {
      ofNew.attempt = () -> CompletableFuture.completedFuture(null);

      assertThat(both.attempt(ATTEMPT)).isCompletedExceptionally();
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("is not over before the old lock has been given back")
    void isNotOverBeforeTheOldLockHasBeenGivenBack() {
      CompletableFuture<Optional<LossReason>> released = new CompletableFuture<>();
      ofNew.attempt = () -> now(new Refusal(0, 1, 0));
      ofOld.release = () -> released;

      CompletableFuture<Outcome> attempt = both.attempt(ATTEMPT).toCompletableFuture();

      assertThat(attempt).isNotDone();
      released.complete(Optional.empty());
      assertThat(attempt).isCompleted();
    }

    @Test
    @DisplayName("is refused even if the old lock cannot be given back, and that is logged")
    void isRefusedEvenIfTheOldLockCannotBeGivenBack() {
      Refusal refusal = new Refusal(0, 1, 0);
      ofNew.attempt = () -> now(refusal);
      ofOld.release = failing(outage);

      List<LogRecord> logged = logged(() -> assertThat(attempted()).isEqualTo(refusal));

      assertThat(logged)
          .singleElement()
          .satisfies(
              record -> {
                assertThat(record.getLevel()).isEqualTo(Level.WARNING);
                assertThat(record.getMessage()).contains("'name'", "keeps others out");
              });
    }

    @Test
    @DisplayName("tells of the new lock's outage even if the old lock cannot be given back")
    void tellsOfTheNewLocksOutage() {
      ofNew.attempt = failing(outage);
      ofOld.release = failing(otherOutage);

      assertThat(
              logged(
                  () ->
                      assertThatThrownBy(BothPrimitiveTest.this::attempted)
                          .cause()
                          .isSameAs(outage)))
          .hasSize(1);
    }

    @Test
    @DisplayName("is no grant when the old lock is over by the time the new one is got")
    void isNoGrantWhenItIsTooLate() {
      ofNew.attempt =
          () -> {
            clock.now = in(10);
            return now(ofNew.grantUntil(in(10)));
          };

      assertThat(attempted()).isInstanceOf(Refusal.class);
      assertThat(journal).endsWith("new release" + ON_CALLER, "old release" + ON_CALLER);
    }

    @Test
    @DisplayName("does not block on the thread that the old lock's answer came on")
    void doesNotBlockOnAnotherThread() {
      CompletableFuture<Outcome> answer = new CompletableFuture<>();
      ofOld.attempt = () -> answer;
      ofNew.attempt = () -> now(new Refusal(0, 1, 0));

      CompletionStage<Outcome> attempt = both.attempt(ATTEMPT);
      answer.complete(ofOld.grantUntil(in(10)));

      assertThat(attempt.toCompletableFuture()).isCompleted();
      assertThat(journal).containsExactly("old attempt" + ON_CALLER, "new attempt", "old release");
    }
  }

  @Nested
  class Validity {
    @Test
    @DisplayName("ends with the lock that ends first")
    void endsWithTheFirst() {
      ofOld.attempt = () -> now(ofOld.grantUntil(in(4)));
      assertThat(granted().validUntil()).isEqualTo(in(4));

      ofNew.attempt = () -> now(ofNew.grantUntil(in(3)));
      assertThat(granted().validUntil()).isEqualTo(in(3));
    }

    @Test
    @DisplayName("ends by the earlier reading of each clock")
    void endsByTheEarlierReadingOfEachClock() {
      Moment soonByWall = new Moment(in(9).nanos(), in(1).wallMicros());
      Moment soonByNanos = new Moment(in(2).nanos(), in(8).wallMicros());
      ofOld.attempt = () -> now(ofOld.grantUntil(soonByWall));
      ofNew.attempt = () -> now(ofNew.grantUntil(soonByNanos));

      assertThat(granted().validUntil()).isEqualTo(new Moment(in(2).nanos(), in(1).wallMicros()));
    }
  }

  @Nested
  class AnExtension {
    @Test
    @DisplayName("extends the new lock, then the old one, up to the earlier end")
    void extendsTheNewLockFirst() {
      Grant grant = granted();
      ofNew.extend = () -> now(new Extended(in(30)));
      ofOld.extend = () -> now(new Extended(in(20)));

      assertThat(extended(grant)).isEqualTo(new Extended(in(20)));
      assertThat(journal).containsExactly("new extend" + ON_CALLER, "old extend" + ON_CALLER);
    }

    @Test
    @DisplayName(
        "is a loss when the new lock is lost, and does not keep old clients out for longer")
    void isALossWhenTheNewLockIsLost() {
      Grant grant = granted();
      ofNew.extend = () -> now(new Lost(LossReason.TAKEN));

      assertThat(extended(grant)).isEqualTo(new Lost(LossReason.TAKEN));
      assertThat(journal).containsExactly("new extend" + ON_CALLER);
    }

    @Test
    @DisplayName("is a loss when the old lock is lost")
    void isALossWhenTheOldLockIsLost() {
      Grant grant = granted();
      ofOld.extend = () -> now(new Lost(LossReason.REMOVED));

      assertThat(extended(grant)).isEqualTo(new Lost(LossReason.REMOVED));
    }

    @Test
    @DisplayName("is an outage when nobody answers for the new lock, and the old one is not asked")
    void isAnOutageOfTheNewLock() {
      Grant grant = granted();
      ofNew.extend = failing(outage);

      assertThatThrownBy(() -> extended(grant)).cause().isSameAs(outage);
      assertThat(journal).containsExactly("new extend" + ON_CALLER);
    }

    @Test
    @DisplayName("is an outage when nobody answers for the old lock")
    void isAnOutageOfTheOldLock() {
      Grant grant = granted();
      ofOld.extend = failing(outage);

      assertThatThrownBy(() -> extended(grant)).cause().isSameAs(outage);
    }
  }

  @Nested
  class ARelease {
    @Test
    @DisplayName("gives the new lock back, then the old one")
    void goesInReverse() {
      assertThat(released()).isEmpty();
      assertThat(journal).containsExactly("new release" + ON_CALLER, "old release" + ON_CALLER);
    }

    @Test
    @DisplayName("keeps both for as long as is asked")
    void keepsBoth() {
      Grant grant = granted();

      assertThat(both.release(grant, Duration.ofSeconds(3), false)).isCompleted();
      assertThat(journal).containsExactly("new keep 3s", "old keep 3s");
    }

    @Test
    @DisplayName("tells of the new lock's loss, and gives the old one back")
    void tellsOfTheNewLocksLoss() {
      ofNew.release = () -> now(Optional.of(LossReason.REMOVED));

      assertThat(released()).contains(LossReason.REMOVED);
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("tells of the old lock's loss")
    void tellsOfTheOldLocksLoss() {
      ofOld.release = () -> now(Optional.of(LossReason.EXPIRED));

      assertThat(released()).contains(LossReason.EXPIRED);
    }

    @Test
    @DisplayName("of two losses tells of the one that let somebody in")
    void ofTwoLossesTellsOfTheWorse() {
      ofNew.release = () -> now(Optional.of(LossReason.REMOVED));
      ofOld.release = () -> now(Optional.of(LossReason.TAKEN));
      assertThat(released()).contains(LossReason.TAKEN);

      ofNew.release = () -> now(Optional.of(LossReason.TAKEN));
      ofOld.release = () -> now(Optional.of(LossReason.REMOVED));
      assertThat(released()).contains(LossReason.TAKEN);
    }

    @Test
    @DisplayName("fails when nobody answers for the new lock, and gives the old one back")
    void failsWithTheNewLocksOutage() {
      ofNew.release = failing(outage);

      assertThatThrownBy(BothPrimitiveTest.this::released).cause().isSameAs(outage);
      assertThat(journal).last().isEqualTo("old release" + ON_CALLER);
    }

    @Test
    @DisplayName("fails when nobody answers for the old lock")
    void failsWithTheOldLocksOutage() {
      ofOld.release = failing(outage);

      assertThatThrownBy(BothPrimitiveTest.this::released).cause().isSameAs(outage);
    }

    @Test
    @DisplayName("tells of a loss rather than of an outage of the other lock")
    void tellsOfALossRatherThanOfAnOutage() {
      ofNew.release = failing(outage);
      ofOld.release = () -> now(Optional.of(LossReason.TAKEN));
      assertThat(released()).contains(LossReason.TAKEN);

      ofNew.release = () -> now(Optional.of(LossReason.REMOVED));
      ofOld.release = failing(outage);
      assertThat(released()).contains(LossReason.REMOVED);
    }

    @Test
    @DisplayName("does not block on the thread that the new lock's answer came on")
    void doesNotBlockOnAnotherThread() {
      Grant grant = granted();
      CompletableFuture<Optional<LossReason>> answer = new CompletableFuture<>();
      ofNew.release = () -> answer;

      CompletionStage<Optional<LossReason>> release = both.release(grant, Duration.ZERO, true);
      answer.complete(Optional.empty());

      assertThat(release.toCompletableFuture()).isCompleted();
      assertThat(journal).containsExactly("new release" + ON_CALLER, "old release");
    }

    @Test
    @DisplayName("fails when one of the two gives no answer")
    void failsWithoutAnAnswer() {
      ofOld.release = () -> CompletableFuture.completedFuture(null);

      assertThat(both.release(granted(), Duration.ZERO, true)).isCompletedExceptionally();
    }

    @Test
    @DisplayName("of two outages tells of the first")
    void ofTwoOutagesTellsOfTheFirst() {
      ofNew.release = failing(outage);
      ofOld.release = failing(otherOutage);

      assertThatThrownBy(BothPrimitiveTest.this::released).cause().isSameAs(outage);
    }
  }

  @Nested
  class AnOperator {
    private final LockStatus status = new LockStatus("name", "somebody", TTL, 1, 1);

    @Test
    @DisplayName("sees who holds the new lock, whatever becomes of the old one")
    void seesTheNewLock() {
      ofNew.inspect = () -> now(Optional.of(status));
      ofOld.inspect = failing(outage);

      assertThat(both.inspect("name")).isCompletedWithValue(Optional.of(status));
    }

    @Test
    @DisplayName("sees who holds the old lock alone")
    void seesTheOldLock() {
      ofOld.inspect = () -> now(Optional.of(status));

      assertThat(both.inspect("name")).isCompletedWithValue(Optional.of(status));
    }

    @Test
    @DisplayName("does not see that nobody holds it if one of the two does not answer")
    void doesNotSeeWhatIsNotAnswered() {
      ofOld.inspect = failing(outage);
      assertThat(both.inspect("name")).isCompletedExceptionally();

      ofOld.inspect = () -> now(Optional.of(status));
      ofNew.inspect = failing(outage);
      assertThat(both.inspect("name")).isCompletedExceptionally();
    }

    @Test
    @DisplayName("removes both, and learns whether there was one")
    void removesBoth() {
      assertThat(both.forceRelease("name")).isCompletedWithValue(false);
      assertThat(journal).containsExactly("old forceRelease", "new forceRelease");

      ofOld.forceRelease = () -> now(true);
      assertThat(both.forceRelease("name")).isCompletedWithValue(true);

      ofOld.forceRelease = () -> now(false);
      ofNew.forceRelease = () -> now(true);
      assertThat(both.forceRelease("name")).isCompletedWithValue(true);
    }

    @Test
    @DisplayName("removes one even if nobody answers for the other, and learns of the outage")
    void removesOneInAnOutageOfTheOther() {
      ofOld.forceRelease = failing(outage);
      assertThat(both.forceRelease("name")).isCompletedExceptionally();

      ofOld.forceRelease = () -> now(true);
      ofNew.forceRelease = failing(outage);
      assertThat(both.forceRelease("name")).isCompletedExceptionally();

      assertThat(journal).hasSize(4);
    }
  }

  @Test
  @DisplayName("it can what both can, and numbers grants if the new lock alone does")
  void itCanWhatBothCan() {
    ofOld.capabilities = EnumSet.of(LockCapability.EXTENSION, LockCapability.INSPECTION);
    ofNew.capabilities =
        EnumSet.of(
            LockCapability.EXTENSION, LockCapability.FORCE_RELEASE, LockCapability.FENCING_TOKEN);
    assertThat(both.capabilities())
        .containsExactlyInAnyOrder(LockCapability.EXTENSION, LockCapability.FENCING_TOKEN);

    ofOld.capabilities = EnumSet.of(LockCapability.FENCING_TOKEN);
    ofNew.capabilities = EnumSet.of(LockCapability.EXTENSION);
    assertThat(both.capabilities()).isEmpty();
  }

  @Test
  @DisplayName("a name or a ttl that one of the two refuses is refused")
  void whatOneRefusesIsRefused() {
    LockConfigurationException wrong = new LockConfigurationException("wrong");
    Runnable refuse =
        () -> {
          throw wrong;
        };
    for (ScriptedPrimitive one : List.of(ofOld, ofNew)) {
      one.requireName = refuse;
      assertThatThrownBy(() -> both.requireName("name")).isSameAs(wrong);
      one.requireName = () -> {};
      one.requireUsable = refuse;
      assertThatThrownBy(() -> both.requireUsable("name", TTL)).isSameAs(wrong);
      one.requireUsable = () -> {};
    }
    both.requireName("name");
    both.requireUsable("name", TTL);
  }

  @Test
  @DisplayName("closing it closes both, whatever one of them does")
  void closingItClosesBoth() {
    RuntimeException failure = new IllegalStateException("cannot close");
    ofNew.close =
        () -> {
          throw failure;
        };

    assertThatThrownBy(both::close).isSameAs(failure);
    assertThat(journal).containsExactly("new close", "old close");
  }

  @Test
  @DisplayName("what lies underneath is the new lock's, or else the old one's")
  void whatLiesUnderneathIsTheNewLocks() {
    assertThat(both.unwrap(ScriptedPrimitive.class)).containsSame(ofNew);
  }

  private Outcome attempted() {
    journal.clear();
    return both.attempt(ATTEMPT).toCompletableFuture().join();
  }

  private Grant granted() {
    Grant grant = (Grant) attempted();
    journal.clear();
    return grant;
  }

  private Extension extended(Grant grant) {
    return both.extend(grant, TTL, true).toCompletableFuture().join();
  }

  private Optional<LossReason> released() {
    return both.release(granted(), Duration.ZERO, true).toCompletableFuture().join();
  }

  private Moment in(int seconds) {
    return new Moment(-7, 1_700_000_000_000_000L).plusNanos(seconds * 1_000_000_000L);
  }

  private LockManager over(ScriptedPrimitive primitive) {
    return LockManagerBuilder.over(primitive).clock(clock).build();
  }

  private static LockBackendException outage(String which) {
    return new LockBackendException("an outage", Map.of(which, new RuntimeException("down")), true);
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
    Logger logger = Logger.getLogger(BothPrimitive.class.getName());
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
