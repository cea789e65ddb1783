package dev.holdfast.legacy.migrate;

import static dev.holdfast.legacy.migrate.ScriptedPrimitive.failing;
import static dev.holdfast.legacy.migrate.ScriptedPrimitive.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Inspection and capabilities of two locks as one. */
class BothPrimitiveTest {
  private final TwoLocks locks = new TwoLocks();
  private final List<String> journal = locks.journal;
  private final ScriptedPrimitive ofOld = locks.ofOld;
  private final ScriptedPrimitive ofNew = locks.ofNew;
  private final BothPrimitive both = locks.both;

  private final LockStatus status =
      new LockStatus("name", "somebody", TwoLocks.TTL, new LockVotes(1, 0, 0));

  @Test
  @DisplayName("sees who holds the new lock, whatever becomes of the old one")
  void seesTheNewLock() {
    ofNew.inspect = () -> now(Optional.of(status));
    ofOld.inspect = failing(locks.outage);

    assertThat(both.inspect("name")).isCompletedWithValue(Optional.of(status));
  }

  @Test
  @DisplayName("sees who holds the old lock alone")
  void seesTheOldLock() {
    ofOld.inspect = () -> now(Optional.of(status));

    assertThat(both.inspect("name")).isCompletedWithValue(Optional.of(status));
  }

  @Test
  @DisplayName("does not report a free lock if one of them does not answer")
  void doesNotReportAFreeLockIfOneOfThemDoesNotAnswer() {
    ofOld.inspect = failing(locks.outage);
    assertThat(both.inspect("name")).isCompletedExceptionally();

    ofOld.inspect = () -> now(Optional.of(status));
    ofNew.inspect = failing(locks.outage);
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
  @DisplayName("removes one even if no node answers for the other, and learns of the outage")
  void removesOneInAnOutageOfTheOther() {
    ofOld.forceRelease = failing(locks.outage);
    assertThat(both.forceRelease("name")).isCompletedExceptionally();

    ofOld.forceRelease = () -> now(true);
    ofNew.forceRelease = failing(locks.outage);
    assertThat(both.forceRelease("name")).isCompletedExceptionally();

    assertThat(journal).hasSize(4);
  }

  @Test
  @DisplayName("capabilities are those of both, with fencing tokens if the new lock alone has them")
  void capabilitiesAreThoseOfBoth() {
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
  void requestThatOneOfThemRefusesIsRefused() {
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
      assertThatThrownBy(() -> both.requireUsable("name", TwoLocks.TTL)).isSameAs(wrong);
      one.requireUsable = () -> {};
    }
    both.requireName("name");
    both.requireUsable("name", TwoLocks.TTL);
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
  @DisplayName("unwraps to the new lock's objects, or else to the old one's")
  void unwrapPrefersTheNewLock() {
    assertThat(both.unwrap(ScriptedPrimitive.class)).containsSame(ofNew);
  }
}
