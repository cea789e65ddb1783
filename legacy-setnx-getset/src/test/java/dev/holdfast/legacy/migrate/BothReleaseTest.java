package dev.holdfast.legacy.migrate;

import static dev.holdfast.legacy.migrate.ScriptedPrimitive.failing;
import static dev.holdfast.legacy.migrate.ScriptedPrimitive.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.LockPrimitive.Release;
import dev.holdfast.core.LockPrimitive.Released;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The release of two locks: one of them can fail while the other does not. */
class BothReleaseTest {
  private final TwoLocks locks = new TwoLocks();
  private final List<String> journal = locks.journal;
  private final ScriptedPrimitive ofOld = locks.ofOld;
  private final ScriptedPrimitive ofNew = locks.ofNew;
  private final BothPrimitive both = locks.both;

  @Test
  @DisplayName("releases the new lock, then the old one")
  void releasesTheNewLockThenTheOldOne() {
    assertThat(locks.released()).isEmpty();
    assertThat(journal).containsExactly("new release", "old release");
  }

  @Test
  @DisplayName("keeps both for as long as is asked")
  void keepsBoth() {
    Release release = new Release(locks.granted(), Duration.ofSeconds(3), false, false);

    assertThat(both.release(release)).isCompleted();
    assertThat(journal).containsExactly("new keep 3s", "old keep 3s");
  }

  @Test
  @DisplayName("deletes the old lock when the new one was lost, and lengthens nothing")
  void aLossOfTheNewLockDeletesTheOldOne() {
    ofNew.release = () -> now(Optional.of(LossReason.TAKEN));

    assertThat(held(true).loss()).contains(LossReason.TAKEN);
    assertThat(journal).containsExactly("new keep 3600s or longer", "old release");
  }

  @Test
  @DisplayName("deletes the lengthened new lock when the old one was lost")
  void aLossOfTheOldLockDeletesTheLengthenedNewOne() {
    ofOld.release = () -> now(Optional.of(LossReason.REMOVED));

    assertThat(held(true).loss()).contains(LossReason.REMOVED);
    assertThat(journal)
        .containsExactly("new keep 3600s or longer", "old keep 3600s or longer", "new release");
  }

  @Test
  @DisplayName("deletes what a release of the new lock without a quorum may have lengthened")
  void anOutageOfTheNewLockAndALossOfTheOldOneDeletesTheNewOne() {
    ofNew.release = failing(locks.outage);
    ofOld.release = () -> now(Optional.of(LossReason.TAKEN));

    assertThat(held(true).loss()).contains(LossReason.TAKEN);
    assertThat(journal).last().isEqualTo("new release");
  }

  @Test
  @DisplayName("deletes nothing more when the old lock was lost and the new one was only shortened")
  void aReleaseThatShortensIsNotRepeated() {
    ofOld.release = () -> now(Optional.of(LossReason.REMOVED));

    assertThat(held(false).loss()).contains(LossReason.REMOVED);
    assertThat(journal).containsExactly("new keep 3600s", "old keep 3600s");
  }

  @Test
  @DisplayName("deletes nothing of two locks that were both lost")
  void twoLossesDeleteNothingMore() {
    ofNew.release = () -> now(Optional.of(LossReason.REMOVED));
    ofOld.release = () -> now(Optional.of(LossReason.REMOVED));

    assertThat(held(true).loss()).contains(LossReason.REMOVED);
    assertThat(journal).containsExactly("new keep 3600s or longer", "old release");
  }

  private Released held(boolean mayLengthen) {
    return both.release(new Release(locks.granted(), Duration.ofHours(1), mayLengthen, false))
        .join();
  }

  @Test
  @DisplayName("reports the new lock's loss, and releases the old one")
  void reportsTheNewLocksLossAndReleasesTheOldOne() {
    ofNew.release = () -> now(Optional.of(LossReason.REMOVED));

    assertThat(locks.released()).contains(LossReason.REMOVED);
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("reports the old lock's loss")
  void reportsTheOldLocksLoss() {
    ofOld.release = () -> now(Optional.of(LossReason.EXPIRED));

    assertThat(locks.released()).contains(LossReason.EXPIRED);
  }

  @Test
  @DisplayName("reports that one of two losses which let another owner in")
  void reportsTheWorseOfTwoLosses() {
    ofNew.release = () -> now(Optional.of(LossReason.REMOVED));
    ofOld.release = () -> now(Optional.of(LossReason.TAKEN));
    assertThat(locks.released()).contains(LossReason.TAKEN);

    ofNew.release = () -> now(Optional.of(LossReason.TAKEN));
    ofOld.release = () -> now(Optional.of(LossReason.REMOVED));
    assertThat(locks.released()).contains(LossReason.TAKEN);
  }

  @Test
  @DisplayName("fails with the new lock's outage, and releases the old one")
  void failsWithTheNewLocksOutageAndReleasesTheOldOne() {
    ofNew.release = failing(locks.outage);

    assertThatThrownBy(locks::released).cause().isSameAs(locks.outage);
    assertThat(journal).last().isEqualTo("old release");
  }

  @Test
  @DisplayName("fails when no node answers for the old lock")
  void failsWithTheOldLocksOutage() {
    ofOld.release = failing(locks.outage);

    assertThatThrownBy(locks::released).cause().isSameAs(locks.outage);
  }

  @Test
  @DisplayName("reports a loss rather than an outage of the other lock")
  void reportsALossRatherThanAnOutage() {
    ofNew.release = failing(locks.outage);
    ofOld.release = () -> now(Optional.of(LossReason.TAKEN));
    assertThat(locks.released()).contains(LossReason.TAKEN);

    ofNew.release = () -> now(Optional.of(LossReason.REMOVED));
    ofOld.release = failing(locks.outage);
    assertThat(locks.released()).contains(LossReason.REMOVED);
  }

  @Test
  @DisplayName("lends a waiting thread to the old lock only")
  void lendsAWaitingThreadToTheOldLockOnly() {
    Release release = Release.deletionOf(locks.granted());
    both.lendThread(() -> both.release(release));

    assertThat(journal).containsExactly("old is lent the thread", "new release", "old release");
  }

  @Test
  @DisplayName("fails when one of the two gives no answer")
  void failsWithoutAnAnswer() {
    ofOld.release = () -> CompletableFuture.completedFuture(null);

    Release release = Release.deletionOf(locks.granted());
    assertThat(both.release(release)).isCompletedExceptionally();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("is sent behind an extension of the new lock, and the old one is left as it is")
  void isSentBehindAnExtensionOfTheNewLock() {
    Grant grant = locks.granted();
    CompletableFuture<Extension> answer = new CompletableFuture<>();
    ofNew.extend = () -> answer;
    CompletableFuture<Extension> extension = both.extend(grant, TwoLocks.TTL);

    CompletableFuture<Released> release = both.release(Release.deletionOf(grant));
    assertThat(release).isCompleted();
    answer.complete(new Extended(locks.in(30)));

    assertThat(journal).containsExactly("new extend", "new release", "old release");
    assertThat(extension).isCompletedWithValue(new Lost(LossReason.REMOVED));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("is sent behind an extension of the old lock")
  void isSentBehindAnExtensionOfTheOldLock() {
    Grant grant = locks.granted();
    ofOld.extend = CompletableFuture::new;
    both.extend(grant, TwoLocks.TTL);

    CompletableFuture<Released> release = both.release(Release.deletionOf(grant));

    assertThat(release).isCompleted();
    assertThat(journal).containsExactly("new extend", "old extend", "new release", "old release");
  }

  @Test
  @DisplayName("reports the first of two outages")
  void reportsTheFirstOfTwoOutages() {
    ofNew.release = failing(locks.outage);
    ofOld.release = failing(locks.otherOutage);

    assertThatThrownBy(locks::released).cause().isSameAs(locks.outage);
  }
}
