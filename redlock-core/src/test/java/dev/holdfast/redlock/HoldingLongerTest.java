package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds that outlast the ttl and the longest ttl. */
@Tag("exclusion")
class HoldingLongerTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration HOLD = Duration.ofHours(2);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);

  @Test
  void theReleaseLengthensTheLockAndItsCounter() {
    Lease lease = granted(Redlock.open(nodes, time.options().restartGuard(false)), 7L);

    lease.releaseAsync();

    Command.Eval keep = command(nodes.take());
    assertThat(keep.script()).isEqualTo(Scripts.KEEP);
    assertThat(keep.keys()).containsExactly("a", "holdfast:fence:a");
    assertThat(keep.arguments().subList(1, 4))
        .containsExactly(
            Long.toString(HOLD.toMillis()),
            "1",
            Long.toString(HOLD.plus(Duration.ofMinutes(10)).toMillis()));
  }

  @Test
  void withoutFencingTokensThereIsNoCounterToLengthen() {
    granted(Redlock.open(nodes, time.plainOptions()), "OK").releaseAsync();

    assertThat(command(nodes.take()).keys()).containsExactly("a");
  }

  @Test
  void theEndOfALostLeaseLengthensNothing() {
    Lease lease = granted(Redlock.open(nodes, time.plainOptions()), "OK");
    time.advance(TTL);
    assertThat(lease.isHeld()).isFalse();
    time.advance(Duration.ZERO);

    assertThat(command(nodes.take()).arguments().get(2)).isEqualTo("0");
  }

  @Test
  void keyLengthenedByADeniedReleaseIsDeleted() {
    CompletableFuture<Boolean> release =
        granted(Redlock.open(nodes, time.plainOptions()), "OK").releaseAsync();
    nodes.answer(a -> a.round().reply(a.node(), a.node() == 0 ? Scripts.MINE : Scripts.MISSING));

    assertThat(release).isCompletedWithValue(false);
    List<Asked> deleting = nodes.take();
    assertThat(deleting).extracting(Asked::node).containsExactly(0, 1, 2);
    assertThat(command(deleting).script()).isEqualTo(Scripts.RELEASE);
  }

  @Test
  void theDeletionOfALengthenedKeyIsPendingForTheHold() {
    aDeniedReleaseCannotDeleteOnTheFirstNode();

    comesBackAfter(HOLD.minusSeconds(1));

    assertThat(nodes.take()).extracting(Asked::node).containsExactly(0);
  }

  @Test
  void theDeletionOfALengthenedKeyIsDroppedAfterTheHold() {
    aDeniedReleaseCannotDeleteOnTheFirstNode();

    comesBackAfter(HOLD);

    assertThat(nodes.take()).isEmpty();
  }

  private void aDeniedReleaseCannotDeleteOnTheFirstNode() {
    CompletableFuture<Boolean> release =
        granted(Redlock.open(nodes, time.plainOptions()), "OK").releaseAsync();
    nodes.answer(a -> a.round().reply(a.node(), a.node() == 0 ? Scripts.MINE : Scripts.MISSING));
    assertThat(release).isCompletedWithValue(false);
    IllegalStateException broken = new IllegalStateException("connection refused");
    nodes.unreachable(0, broken);
    nodes.answer(
        a -> {
          if (a.node() == 0) {
            a.round().failure(0, broken);
          } else {
            a.round().reply(a.node(), Scripts.MISSING);
          }
        });
    nodes.breakConnection(0);
    time.advance(Duration.ZERO);
  }

  private void comesBackAfter(Duration away) {
    time.advance(away.minusSeconds(1));
    nodes.unreachable(0, null);
    time.advance(Duration.ofSeconds(1));
  }

  @Test
  void keyKeptByAQuorumIsNotDeleted() {
    CompletableFuture<Boolean> release =
        granted(Redlock.open(nodes, time.plainOptions()), "OK").releaseAsync();
    nodes.answer(a -> a.round().reply(a.node(), a.node() == 0 ? Scripts.MISSING : Scripts.MINE));

    assertThat(release).isCompletedWithValue(true);
    assertThat(nodes.take()).isEmpty();
  }

  private Lease granted(LockManager locks, Object reply) {
    var lease = locks.tryAcquireAsync(LockRequest.of("a", TTL).holdAtLeast(HOLD));
    nodes.answerAll(a -> a.round().reply(a.node(), reply));
    return lease.join().orElseThrow();
  }

  private static Command.Eval command(List<Asked> asked) {
    return (Command.Eval) asked.get(0).command();
  }
}
