package dev.holdfast.redlock.internal.noscript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One node whose user may run no scripts, in every order of answers. */
class ScriptFallbackTest {
  private static final int FIRST = 0;
  private static final int SECOND = 1;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(1).withoutScripts();
  private final LockManager locks = Redlock.open(nodes, time.options().fencing(false));

  @Test
  @Rule("OPEN-5")
  @DisplayName("a second connection is made if scripts are forbidden")
  void secondConnectionIsMadeWithoutScripts() {
    assertThat(nodes.connects()).containsExactly(FIRST, SECOND);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @DisplayName("a release compares and deletes in one transaction")
  void aReleaseComparesAndDeletes() {
    Lease lease = acquired("a");
    CompletableFuture<Boolean> released = lease.releaseAsync();
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    answerWatched(lease.token());
    assertThat(nodes.pendingWords()).containsExactly("MULTI");
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("DEL a", "EXEC");
    nodes.replyInTurn("QUEUED", List.of(1L));
    assertThat(released).isCompletedWithValue(true);
  }

  @Test
  @Rule("REL-2")
  @DisplayName("the key of another owner is left")
  void keyOfAnotherOwnerIsLeft() {
    Lease lease = acquired("a");
    CompletableFuture<Boolean> released = lease.releaseAsync();
    answerWatched("another");
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");
    assertThat(released).isCompletedWithValue(false);
  }

  @Test
  @Rule("REL-2")
  @DisplayName("a key that changes after it was compared is compared again")
  void aKeyThatChangesIsComparedAgain() {
    Lease lease = acquired("a");
    CompletableFuture<Boolean> released = lease.releaseAsync();
    answerWatched(lease.token());
    nodes.replyInTurn("OK");
    nodes.replyInTurn("QUEUED", null);
    answerWatched("another");
    nodes.replyInTurn("OK");
    assertThat(released).isCompletedWithValue(false);
  }

  @Test
  @Rule("REL-2")
  @DisplayName("nothing is deleted if MULTI is refused")
  void nothingIsDeletedIfMultiIsRefused() {
    Lease lease = acquired("a");
    CompletableFuture<Boolean> released = lease.releaseAsync();
    answerWatched(lease.token());
    nodes.answer(a -> a.round().error(a.node(), "NOPERM no permissions to run 'multi'"));
    assertThat(nodes.pendingWords()).isEmpty();
    assertThatThrownBy(released::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("multi");
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @DisplayName("an extension never shortens, and puts a missing key back")
  void extensionNeverShortens() {
    Lease lease = acquired("a");
    var extended = lease.extendAsync(Duration.ofSeconds(20));
    nodes.replyInTurn("OK", 30_000L, lease.token());
    assertThat(nodes.pendingWords()).containsExactly("UNWATCH");
    nodes.replyInTurn("OK");
    assertThat(extended).isCompleted();

    lease.extendAsync(Duration.ofSeconds(50));
    answerWatched(lease.token());
    nodes.replyInTurn("OK");
    assertThat(nodes.pendingWords()).containsExactly("PEXPIRE a 50000", "EXEC");
    nodes.replyInTurn("QUEUED", List.of(1L));

    lease.extendAsync(Duration.ofSeconds(50));
    nodes.replyInTurn("OK", -2L, null);
    assertThat(nodes.pendingWords()).containsExactly("SET a " + lease.token() + " NX PX 50000");
  }

  @Test
  @Rule("ACQ-3")
  @DisplayName("a release waits for the answer to the SET before it")
  void aReleaseWaitsForTheSet() {
    Duration ttl = Duration.ofMillis(500);
    var attempt = locks.tryAcquireAsync(LockRequest.of("a", ttl));
    Asked set = nodes.take().get(0);
    time.advance(ttl); // the attempt fails, and is cleaned up after
    assertThat(nodes.pendingWords()).isEmpty();
    set.round().reply(FIRST, "OK");
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    assertThat(attempt).isCompletedExceptionally();
  }

  @Test
  @DisplayName("two transactions of one connection do not overlap: EXEC ends every WATCH")
  void transactionsDoNotOverlap() {
    Lease a = acquired("a");
    Lease b = acquired("b");
    a.releaseAsync();
    b.releaseAsync();
    assertThat(nodes.pendingWords()).containsExactly("WATCH a", "PTTL a", "GET a");
    answerWatched(a.token());
    nodes.replyInTurn("OK");
    nodes.replyInTurn("QUEUED", List.of(1L));
    assertThat(nodes.pendingWords()).containsExactly("WATCH b", "PTTL b", "GET b");
  }

  @Test
  @DisplayName("the end of one connection is the end of both, and queued commands fail")
  void endOfOneConnectionIsTheEndOfBoth() {
    Lease lease = acquired("a");
    CompletableFuture<Boolean> released = lease.releaseAsync();
    nodes.breakConnection(SECOND);
    assertThat(nodes.disconnects()).contains(FIRST);
    assertThat(released).isCompletedExceptionally();
    time.advance(Duration.ZERO);
    assertThat(nodes.connects()).containsExactly(FIRST, SECOND, FIRST, SECOND);
  }

  @Test
  @DisplayName("the end of the first connection is the end of both, too")
  void theEndOfTheFirstIsTheEndOfBoth() {
    nodes.breakConnection(FIRST);
    assertThat(nodes.disconnects()).containsExactly(SECOND);
    time.advance(Duration.ZERO);
    assertThat(nodes.connects()).containsExactly(FIRST, SECOND, FIRST, SECOND);
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @DisplayName("both connections end if one command fails")
  void bothConnectionsEndIfOneCommandFails() {
    locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(10)));
    nodes.answer(a -> a.round().failure(a.node(), new IllegalStateException("protocol error")));
    time.advance(Duration.ZERO);
    assertThat(nodes.disconnects()).contains(FIRST, SECOND);
    assertThat(nodes.connects()).containsExactly(FIRST, SECOND, FIRST, SECOND);
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("a node is not used while its second connection cannot be made")
  void aNodeIsNotUsedWithoutItsSecondConnection() {
    nodes.unreachable(SECOND, new IllegalStateException("maxclients reached"));
    nodes.breakConnection(FIRST);
    time.advance(Duration.ZERO);
    var attempt = locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(10)));
    assertThat(attempt).isCompletedExceptionally();
    assertThat(nodes.take()).isEmpty();

    nodes.unreachable(SECOND, null);
    time.advance(Duration.ofSeconds(1));
    assertThat(acquired("a").isHeld()).isTrue();
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("a node without its second connection is down for the cause of that")
  void failureOfTheSecondConnectionIsTheCause() {
    nodes.unreachable(SECOND, new IllegalStateException("maxclients reached"));
    nodes.breakConnection(FIRST);
    time.advance(Duration.ZERO);

    assertThat(locks.nodes().get(0).cause()).isEqualTo("maxclients reached");
    assertThat(nodes.disconnects()).contains(FIRST);
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("the end of the first connection is the cause, not that of the second")
  void endOfTheFirstConnectionIsTheCause() {
    CompletableFuture<Void> second = new CompletableFuture<>();
    nodes.connecting(SECOND, second);
    nodes.breakConnection(FIRST);
    time.advance(Duration.ZERO);
    nodes.beforeDisconnecting(
        () -> second.completeExceptionally(new IllegalStateException("dropped by us")));
    nodes.breakConnection(FIRST);

    assertThat(second).isCompletedExceptionally();
    assertThat(locks.nodes().get(0).cause()).isEqualTo("the connection ended");
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("a late reply over a connection that broke makes no second connection")
  void lateReplyOverAConnectionThatBrokeMakesNoSecondConnection() {
    nodes.keepTaughtScripts(true);
    nodes.breakConnection(FIRST);
    time.advance(Duration.ZERO);
    Asked late = nodes.take().get(0);
    nodes.breakConnection(FIRST);
    time.advance(Duration.ofSeconds(1));
    late.round().error(FIRST, "NOPERM this user has no permissions to run the 'eval' command");

    assertThat(nodes.connects()).containsExactly(FIRST, SECOND, FIRST, FIRST);
    nodes.answer(a -> a.round().error(a.node(), "NOPERM no permissions to run 'eval'"));
    assertThat(nodes.connects()).endsWith(FIRST, SECOND);
    assertThat(acquired("a").isHeld()).isTrue();
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("a reply while a connection is dropped makes no second connection")
  void replyWhileAConnectionIsDroppedMakesNoSecondConnection() {
    nodes.keepTaughtScripts(true);
    nodes.breakConnection(FIRST);
    time.advance(Duration.ZERO);
    Asked late = nodes.take().get(0);
    nodes.beforeDisconnecting(() -> late.round().error(FIRST, "NOPERM no permissions"));
    time.advance(RedlockOptions.DEFAULT_CONNECT_TIMEOUT);

    assertThat(nodes.disconnects()).endsWith(FIRST);
    assertThat(nodes.connects()).containsExactly(FIRST, SECOND, FIRST, FIRST);
  }

  private Lease acquired(String name) {
    CompletableFuture<Optional<Lease>> lease =
        locks.tryAcquireAsync(LockRequest.of(name, Duration.ofSeconds(30)));
    nodes.replyInTurn("OK");
    return lease.join().orElseThrow();
  }

  private void answerWatched(String value) {
    nodes.replyInTurn("OK", 25_000L, value);
  }
}
