package dev.holdfast.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Judgement of locks that exclude each other, and of locks that do not. */
class CompareJudgeTest {
  private final LockManager locks = LockManager.open("memory:");
  private final LockManager others = LockManager.open("memory:");
  private final CompareJudge judge = new CompareJudge();

  @AfterEach
  void close() {
    locks.close();
    others.close();
  }

  @Test
  void seesTwoOwners() throws Exception {
    judge.begin(lease(locks));
    judge.begin(lease(others));

    assertThat(judge.hasSeenTwoOwners()).isTrue();
  }

  @Test
  void successiveOwnersAreNotTwoOwners() throws Exception {
    Lease first = lease(locks);
    judge.begin(first);
    judge.end(first);
    judge.begin(lease(others));

    assertThat(judge.hasSeenTwoOwners()).isFalse();
  }

  @Test
  void aLeaseThatIsOverIsNoOwnerEvenIfItsHolderGoesOn() throws Exception {
    Lease first = lease(locks);
    judge.begin(first);
    first.close();
    judge.begin(lease(others));

    assertThat(judge.hasSeenTwoOwners()).isFalse();
  }

  private static Lease lease(LockManager manager) throws InterruptedException {
    return manager.acquire("a", Duration.ofSeconds(30));
  }
}
