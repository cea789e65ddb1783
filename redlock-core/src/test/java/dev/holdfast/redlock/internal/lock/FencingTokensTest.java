package dev.holdfast.redlock.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Fencing tokens, message by message. */
class FencingTokensTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration DRIFT = Duration.ofMillis(102);
  private static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private ScriptedNodes nodes = new ScriptedNodes(5);
  private final LockManager locks = open(options());

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("a number that a quorum gave is the token, after one trip")
  void numberOfAQuorumIsTheFencingToken() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    reply(asked, 0, 1);
    reply(asked, 100, 0, 2, 4);

    assertThat(lease(future).fencingToken()).hasValue(100);
    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("a quorum that gives no number is contention")
  void aQuorumThatGivesNoNumberIsContention() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    reply(asked, 0, 1, 2, 3);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.OTHER));

    assertThat(future.join()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("the largest of different numbers is stored by a quorum before the grant")
  void largestNumberIsStoredByAQuorumBeforeTheGrant() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    give(asked, 100, 102, 101);
    List<Asked> storing = nodes.take();

    assertThat(storing).extracting(Asked::node).containsExactly(0, 1, 2, 3, 4);
    assertThat(storing.get(0).command().words())
        .containsSubsequence(
            Scripts.FENCE.sha1(),
            "a",
            "holdfast:fence:a",
            asked.get(0).command().words().get(5),
            "102");
    reply(asked, 100, 4);
    reply(storing, Scripts.MINE, 0, 1);
    assertThat(future).isNotDone();
    reply(storing, Scripts.MINE, 4);
    assertThat(lease(future).fencingToken()).hasValue(102);
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-1", "ACQ-12"})
  @DisplayName("a node that granted in quarantine does not count in the" + " second trip")
  void nodeInQuarantineDoesNotCountInTheSecondTrip() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> storing = storingThoughOneIsUnderQuarantine();
    reply(storing, Scripts.MINE, 0, 1, 3);
    assertThat(future).as("two of five have it, and one that may have lost it").isNotDone();
    reply(storing, Scripts.MINE, 4);
    assertThat(lease(future).fencingToken()).hasValue(102);
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("a node in quarantine that prevents a quorum of the second trip is an" + " outage")
  void nodeInQuarantineThatPreventsTheSecondTripIsAnOutage() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> storing = storingThoughOneIsUnderQuarantine();
    reply(storing, Scripts.MINE, 0, 3);
    for (int node : List.of(1, 2, 4)) {
      storing.get(node).round().failure(node, new IOException("reset"));
    }
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("1 of 5 nodes answered", "h4:6379: a reply that is no vote: 1");
  }

  @Test
  @Tag("exclusion")
  @Rule({"ACQ-12", "ACQ-3"})
  @DisplayName("an attempt whose token no quorum stored is not granted and" + " is released")
  void tokenThatNoQuorumStoredIsNotGranted() {
    CompletableFuture<Optional<Lease>> future = ask();
    give(nodes.take(), 100, 102, 101);
    reply(nodes.take(), Scripts.OTHER, 0, 1, 2);
    List<Asked> released = nodes.take();

    assertThat(released).hasSize(5);
    assertThat(released.get(0).command().words()).contains(Scripts.RELEASE.sha1());
    reply(released, Scripts.OTHER, 0, 1, 2);
    assertThat(future.join()).isEmpty();
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("silence in the second trip is an outage, within the limit of the attempt")
  void bothTripsHaveOneDeadline() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.advance(QUORUM_TIMEOUT.minusMillis(10));
    give(asked, 100, 102, 101);
    time.advance(Duration.ofMillis(9));
    assertThat(future).isNotDone();
    time.advance(Duration.ofMillis(1));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("0 of 5 nodes answered");
  }

  @Test
  @Tag("exclusion")
  @Rule({"VAL-1", "VAL-5"})
  @DisplayName("the second trip is time spent, too")
  void validityIsLookedAtAgainAfterTheSecondTrip() {
    CompletableFuture<Optional<Lease>> inTime = ask();
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(20));
    give(asked, 100, 102, 101);
    List<Asked> storing = nodes.take();
    time.advance(Duration.ofMillis(20));
    reply(storing, Scripts.MINE, 0, 1, 2);
    assertThat(lease(inTime).remaining()).isEqualTo(TTL.minus(DRIFT).minusMillis(40));

    CompletableFuture<Optional<Lease>> tooLate = locks.tryAcquireAsync(LockRequest.of("b", TTL));
    give(nodes.take(), 200, 202, 201);
    List<Asked> late = nodes.take();
    time.sleepMachine(TTL);
    reply(late, Scripts.MINE, 0, 1, 2);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(tooLate::join).hasCauseInstanceOf(LockOutageException.class);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("a number that comes after the decision does not change the token")
  void lateNumberDoesNotChangeTheToken() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    give(asked, 100, 100, 100);
    asked.get(3).round().reply(3, 500L);

    assertThat(lease(future).fencingToken()).hasValue(100);
  }

  @Test
  @Rule("ACQ-15")
  @DisplayName("a client that got a number of a clock that is ahead follows that clock")
  void clockThatIsAheadIsFollowed() {
    long ahead = 200_000;
    ask();
    reply(nodes.take(), time.wallMicros() + ahead, 3);
    nodes.take();

    locks.tryAcquireAsync(LockRequest.of("b", TTL));
    assertThat(proposed()).isEqualTo(time.wallMicros() + ahead);
    time.advance(Duration.ofMillis(50));
    locks.tryAcquireAsync(LockRequest.of("c", TTL));
    assertThat(proposed()).isEqualTo(time.wallMicros() + ahead);
  }

  @ParameterizedTest
  @ValueSource(longs = {-200_000, 5_000_001})
  @Rule("ACQ-15")
  @DisplayName("a clock that is behind, or too far ahead, is not followed")
  void clockThatIsBehindOrTooFarAheadIsNotFollowed(long micros) {
    ask();
    reply(nodes.take(), time.wallMicros() + micros, 0, 1, 2);

    locks.tryAcquireAsync(LockRequest.of("b", TTL));
    assertThat(proposed()).isEqualTo(time.wallMicros());
  }

  @ParameterizedTest
  @CsvSource({"500, 11000", "1100, 11000", "1101, 11010", "60000, 600000"})
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("a counter outlives the largest lag of a client's clock, and ten of" + " maxTtl")
  void counterOutlivesTheLargestClockLag(long maxTtlMillis, String lifeMillis) {
    nodes = new ScriptedNodes(3);
    try (LockManager manager = open(options().maxTtl(Duration.ofMillis(maxTtlMillis)))) {
      manager.tryAcquireAsync(LockRequest.of("a", Duration.ofMillis(400)));
      List<Asked> asked = nodes.take();
      give(asked, 100, 100, 100);

      assertThat(asked.get(0).command().words()).endsWith(lifeMillis);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 53, Long.MAX_VALUE, Long.MIN_VALUE})
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a reply that is no fencing token is no vote")
  void replyThatIsNoFencingTokenIsNoVote(long number) {
    CompletableFuture<Optional<Lease>> future = ask();
    give(nodes.take(), 100, 100, number, number, number);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("h3:6379: a reply that is no vote: " + number);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("without fencing there is no token, and the lock is a plain SET")
  void withoutFencingTheLockIsAPlainSet() {
    nodes = new ScriptedNodes(3);
    try (LockManager plain = open(options().fencing(false))) {
      CompletableFuture<Optional<Lease>> future = plain.tryAcquireAsync(LockRequest.of("a", TTL));
      List<Asked> asked = nodes.take();
      asked.forEach(a -> a.round().reply(a.node(), "OK"));

      assertThat(asked.get(0).command().words())
          .startsWith("SET", "a")
          .endsWith("NX", "PX", "10000");
      assertThat(lease(future).fencingToken()).isEmpty();
      assertThat(plain.capabilities()).doesNotContain(LockCapability.FENCING_TOKEN);
    }
    assertThat(locks.capabilities()).contains(LockCapability.FENCING_TOKEN);
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName(
      "the error for a user who may not run scripts names the right and" + " the alternative")
  void errorNamesTheRightThatFencingNeeds() {
    nodes = new ScriptedNodes(3).withoutScripts();

    assertThatThrownBy(() -> open(options()))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h1:6379", "allow EVAL and EVALSHA", "fencing=false");
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return locks.tryAcquireAsync(LockRequest.of("a", TTL));
  }

  /** The second trip of an attempt that all but the fourth granted, which has lost its data. */
  private List<Asked> storingThoughOneIsUnderQuarantine() {
    List<Asked> asked = nodes.take();
    give(asked, 100, 102, 101);
    asked.get(3).round().error(3, "QUARANTINE 3 0 61000 1");
    reply(asked, 100, 4);
    return nodes.take();
  }

  /** The client's time in the attempt that was sent last. */
  private long proposed() {
    List<String> words = nodes.take().get(0).command().words();
    return Long.parseLong(words.get(words.size() - 2));
  }

  private RedlockOptions options() {
    return time.options().restartGuard(false).ownerLabel("me");
  }

  private LockManager open(RedlockOptions options) {
    return Redlock.open(nodes, options);
  }

  private static Lease lease(CompletableFuture<Optional<Lease>> future) {
    return future.join().orElseThrow();
  }

  /** The first nodes answer with these. */
  private static void give(List<Asked> asked, long... numbers) {
    for (int node = 0; node < numbers.length; node++) {
      asked.get(node).round().reply(node, numbers[node]);
    }
  }

  private static void reply(List<Asked> asked, long code, int... voters) {
    for (int node : voters) {
      asked.get(node).round().reply(node, code);
    }
  }
}
