package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A wall clock that goes ahead of the monotonic clock: the machine slept, or the clock was set. */
class SleepWatchTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void leaseThatEndedDuringASleepIsLostWithinASecondOfWaking() throws Exception {
    CompletableFuture<LossReason> lost = lostOf(open("x"));
    time.advance(SECOND);
    time.moveWall(TTL);
    assertThat(lost).isNotDone();
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
    assertThat(backend.calls(Op.RELEASE)).as("what is left is given back").hasSize(1);
    assertThat(time.pending()).as("no timer without a lease").isEmpty();
  }

  @Test
  void leaseShortenedByASleepIsLostWithinASecondOfItsEnd() throws Exception {
    Lease lease = open("x");
    CompletableFuture<LossReason> lost = lostOf(lease);
    time.moveWall(Duration.ofSeconds(20));
    time.advance(Duration.ofSeconds(9));
    assertThat(lost).isNotDone();
    assertThat(lease.isHeld()).isTrue();
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void manyShortSleepsCountTogether() throws Exception {
    CompletableFuture<LossReason> lost = lostOf(open("x"));
    for (int i = 0; i < 375; i++) { // by 40 ms in every 40 ms
      time.moveWall(Duration.ofMillis(40));
      time.advance(Duration.ofMillis(40));
    }
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void aClockThatIsSetBackAndAheadAgainMakesALossNoLater() throws Exception {
    open("old");
    time.moveWall(Duration.ofHours(-1));
    time.advance(SECOND);
    CompletableFuture<LossReason> lost = lostOf(open("x"));
    time.moveWall(Duration.ofHours(1));
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void aClockThatIsSetBackEndsNothing() throws Exception {
    Lease lease = open("x");
    CompletableFuture<LossReason> lost = lostOf(lease);
    time.moveWall(Duration.ofHours(-1));
    time.advance(TTL.minus(SECOND));
    assertThat(lost).isNotDone();
    assertThat(lease.isHeld()).isTrue();
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void leaseThatIsKeptAliveIsLostAsSoon() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL).keepAliveUpTo(Duration.ofMinutes(10)));
    CompletableFuture<LossReason> lost = lostOf(lease);
    time.advance(Duration.ofMinutes(2));
    assertThat(lost).isNotDone();
    time.moveWall(TTL);
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void oneTimerServesAllLeasesAndGoesAfterTheLast() throws Exception {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      leases.add(open("x" + i));
      assertThat(time.pending()).as("the end of each lease, and one").hasSize(i + 2);
    }
    for (Lease lease : leases) {
      assertThat(lease.release()).isTrue();
    }
    assertThat(time.pending()).as("that one").hasSize(1);
    time.advance(SECOND);
    assertThat(time.pending()).isEmpty();
    assertThat(open("again").isHeld()).isTrue();
    assertThat(time.pending()).hasSize(2);
  }

  @Test
  void aLeaseThatIsOpenedAfterTheLastIsWatchedToo() throws Exception {
    assertThat(open("x").release()).isTrue();
    CompletableFuture<LossReason> lost = lostOf(open("y"));
    time.advance(SECOND);
    time.moveWall(TTL);
    time.advance(SECOND);
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void whileClocksAgreeNoLeaseIsLookedAt() throws Exception {
    Lease lease = open("x");
    time.advance(Duration.ofSeconds(20));
    assertThat(time.pending()).hasSize(2).contains(Duration.ofSeconds(10));
    assertThat(lease.release()).isTrue();
  }

  private Lease open(String name) throws InterruptedException {
    return manager.acquire(LockRequest.of(name, TTL));
  }

  private static CompletableFuture<LossReason> lostOf(Lease lease) {
    return lease.onLoss();
  }
}
