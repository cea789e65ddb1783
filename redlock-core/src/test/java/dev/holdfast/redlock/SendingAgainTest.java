package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Releases that are sent to a node after it was away. */
class SendingAgainTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final int AWAY = 2;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private final LockManager locks = Redlock.open(nodes, time.plainOptions());

  @BeforeEach
  void oneNodeBreaksWhileALockIsReleasedThatIsToBeHeldForFiveSeconds() {
    var lease =
        locks.tryAcquireAsync(
            LockRequest.of("a", Duration.ofSeconds(10)).holdAtLeast(Duration.ofSeconds(5)));
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    lease.join().orElseThrow().releaseAsync();
    nodes.answer(
        a -> {
          if (a.node() == AWAY) {
            a.round().failure(AWAY, new IllegalStateException("connection reset"));
          } else {
            a.round().reply(a.node(), Scripts.MINE);
          }
        });
    goesAway();
  }

  @Test
  @Tag("exclusion")
  @Rule({"ACQ-11", "REL-6"})
  @DisplayName("a release that is sent again keeps other owners out for the" + " rest of the time")
  void resentReleaseKeepsTheRestOfHoldAtLeast() {
    comesBackAfter(SECOND);
    assertThat(wordsOf(nodes.take(), Scripts.KEEP)).startsWith("4000", "1");
  }

  @Test
  @Tag("exclusion")
  @Rule({"ACQ-11", "REL-6"})
  @DisplayName("after holdAtLeast a resent release deletes the key")
  void resentReleaseDeletesAfterHoldAtLeast() {
    comesBackAfter(SECOND.multipliedBy(6));
    assertThat(wordsOf(nodes.take(), Scripts.RELEASE)).as("the notification").hasSize(1);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("after the longest ttl no release is pending")
  void afterTheLongestTtlNoReleaseIsPending() {
    comesBackAfter(Duration.ofSeconds(61));
    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a release that fails again is sent again")
  void aReleaseThatFailsAgainIsSentAgain() {
    comesBackAfter(SECOND);
    goesAway();
    comesBackAfter(SECOND);
    assertThat(nodes.take()).extracting(Asked::node).containsExactly(AWAY);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a release that is deferred while its node comes up is sent again, too")
  void aReleaseThatIsDeferredWhileItsNodeComesUpIsSentAgain() {
    comesBackAfter(SECOND);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    Lease lease = acquired("b");
    Lease other = acquired("c");
    goesAway();
    lease.releaseAsync();
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    AtomicBoolean comingUp = new AtomicBoolean(true);
    nodes.beforeSubmitting(
        round -> {
          if (round.asks(AWAY) && isRelease(round) && comingUp.getAndSet(false)) {
            other.releaseAsync();
          }
        });
    comesBackAfter(SECOND);

    assertThat(nodes.take())
        .filteredOn(a -> a.node() == AWAY)
        .extracting(a -> ((Command.Eval) a.command()).keys().get(0))
        .containsExactly("b", "c");
  }

  private void goesAway() {
    nodes.unreachable(AWAY, new IllegalStateException("connection refused"));
    nodes.breakConnection(AWAY);
    time.advance(Duration.ZERO);
  }

  private void comesBackAfter(Duration away) {
    time.advance(away.minus(SECOND));
    nodes.unreachable(AWAY, null);
    time.advance(SECOND);
  }

  private Lease acquired(String name) {
    var lease = locks.tryAcquireAsync(LockRequest.of(name, Duration.ofSeconds(30)));
    nodes.answerAll(a -> a.round().reply(a.node(), "OK"));
    return lease.join().orElseThrow();
  }

  private static boolean isRelease(Round round) {
    return round.command() instanceof Command.Eval eval && eval.script().equals(Scripts.RELEASE);
  }

  /** Returns the words behind the token. */
  private static List<String> wordsOf(List<Asked> asked, Script script) {
    assertThat(asked).extracting(Asked::node).containsExactly(AWAY);
    Command.Eval release = (Command.Eval) asked.get(0).command();
    assertThat(release.script()).isEqualTo(script);
    return release.arguments().subList(1, release.arguments().size());
  }
}
