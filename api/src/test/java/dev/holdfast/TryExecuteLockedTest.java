package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
class TryExecuteLockedTest {
  private static final LockRequest REQUEST = LockRequest.of("stock", Duration.ofSeconds(10));

  private final InMemoryLocks locks = new InMemoryLocks();
  private final List<String> work = new ArrayList<>();

  @Test
  void theResultIsThatOfTheTask() throws Exception {
    assertThat(locks.tryExecuteLocked(REQUEST, lease -> "result of " + lease.name()))
        .contains("result of stock");
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  void resultIsEmptyAndTheTaskIsNotRunWhileTheLockIsHeld() throws Exception {
    try (Lease held = locks.acquire(REQUEST)) {
      assertThat(locks.tryExecuteLocked(REQUEST, lease -> work.add("done"))).isEmpty();
      assertThat(locks.tryRunLocked(REQUEST, lease -> work.add("done"))).isFalse();
      assertThat(held.isHeld()).isTrue();
    }
    assertThat(work).isEmpty();
  }

  @Test
  void workWithoutAResultIsDoneUnderTheLock() throws Exception {
    assertThat(locks.tryRunLocked(REQUEST, lease -> work.add("tried " + lease.isHeld()))).isTrue();
    locks.runLocked(REQUEST, lease -> work.add("ran " + lease.isHeld()));

    assertThat(work).containsExactly("tried true", "ran true");
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  @SuppressWarnings("NullAway") // null is the mistake
  void taskThatReturnsNullIsReferredToTheVoidMethod() {
    assertThatThrownBy(() -> locks.tryExecuteLocked(REQUEST, lease -> nothing()))
        .isInstanceOf(NullPointerException.class)
        .hasMessage(
            "the task under the lock 'stock' returned null, and an empty result means that another"
                + " owner holds the lock: call tryRunLocked for a task without a result");
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  @SuppressWarnings("NullAway") // null is the mistake
  void lossIsThrownInsteadOfTheNullResult() {
    assertThatThrownBy(
            () ->
                locks.tryExecuteLocked(
                    REQUEST,
                    lease -> {
                      locks.lose("stock", LossReason.TAKEN);
                      return nothing();
                    }))
        .isInstanceOf(LockLostException.class);
  }

  @Test
  void aLossOfWorkWithoutAResultIsThrownToo() {
    assertThatThrownBy(
            () -> locks.runLocked(REQUEST, lease -> locks.lose("stock", LossReason.TAKEN)))
        .isInstanceOf(LockLostException.class);
    assertThatThrownBy(
            () -> locks.tryRunLocked(REQUEST, lease -> locks.lose("stock", LossReason.TAKEN)))
        .isInstanceOf(LockLostException.class);
  }

  @Test
  void checkedExceptionsAreThrownUnchanged() {
    IOException thrown = new IOException("disk full");

    assertThatThrownBy(
            () ->
                locks.runLocked(
                    REQUEST,
                    lease -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
    assertThatThrownBy(
            () ->
                locks.tryRunLocked(
                    REQUEST,
                    lease -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
    assertThat(locks.isHeld("stock")).isFalse();
  }

  private static @Nullable String nothing() {
    return null;
  }
}
