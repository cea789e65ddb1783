package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.lock.LockValues;
import dev.holdfast.redlock.internal.lock.RedlockPrimitive;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Inspection and forced releases by operators, reply by reply. */
class InspectingTest {
  private static final String ALICE = "alice:" + "0a".repeat(20);
  private static final String BOB = "bob:" + "0b".repeat(20);
  private static final List<Object> NOTHING = List.of("none", "", -2L);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);
  private final RedlockOptions options =
      RedlockOptions.defaults().keyPrefix("app:").clock(time).scheduler(time);

  /** The primitive, as managers over several backends use it. */
  private final RedlockPrimitive primitive =
      new RedlockPrimitive(
          nodes,
          nodes,
          options.forAlgorithm(),
          new GuardTerms(options.forAlgorithm(), nodes.addresses()),
          time,
          () -> {});

  @ParameterizedTest
  @ValueSource(strings = {"alice", "bob"})
  @Rule("INSP-1")
  @DisplayName(
      "the holder is the owner that most nodes name, for as long as a" + " quorum of them does")
  void holderIsTheOwnerThatMostNodesName(String holder) {
    String most = holder.equals("alice") ? ALICE : BOB;
    String other = holder.equals("alice") ? BOB : ALICE;
    var status = inspect();
    List<Asked> asked = nodes.take();
    assertThat(asked.get(0).command().words()).contains(Scripts.INSPECT.sha1(), "app:a");
    reply(asked.get(0), held(most, 9_000));
    reply(asked.get(1), held(other, 30_000));
    reply(asked.get(2), held(most, 7_000));
    reply(asked.get(3), held(most, 8_000));
    assertThat(status).as("all are heard").isNotDone();
    reply(asked.get(4), held(most, 6_000));

    assertThat(status)
        .isCompletedWithValue(
            Optional.of(
                new LockStatus("a", holder, Duration.ofSeconds(7), new LockVotes(4, 5 - 4, 0))));
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("a holder that only a minority names is shown, for as long as all of" + " them do")
  void holderOfAMinorityIsShown() {
    var status = inspect();
    List<Asked> asked = nodes.take();
    reply(asked.get(0), held(ALICE, 9_000));
    reply(asked.get(1), held(ALICE, -1));
    asked.subList(2, 5).forEach(a -> reply(a, NOTHING));

    assertThat(status)
        .isCompletedWithValue(
            Optional.of(new LockStatus("a", "alice", Duration.ZERO, new LockVotes(2, 5 - 2, 0))));
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl above maxTtl is refused, even if the manager's own limit is" + " higher")
  void ttlAboveMaxTtlIsRefused() {
    primitive.requireUsable("a", Duration.ofSeconds(60));
    assertThatThrownBy(() -> primitive.requireUsable("a", Duration.ofMillis(60_001)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("60001 ms is above these nodes' maxTtl, 60000 ms");
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("a free lock has no holder")
  void freeLockHasNoHolder() {
    var status = inspect();
    nodes.answer(a -> reply(a, NOTHING));

    assertThat(status).isCompletedWithValue(Optional.empty());
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("a key of another type is shown with its type")
  void keyOfAnotherTypeIsShown() {
    var status = inspect();
    nodes.answer(a -> reply(a, List.of("list", "", -1L)));

    assertThat(status.join().orElseThrow().ownerLabel()).isEqualTo("(a key of type list)");
  }

  @Test
  @Rule("INSP-1")
  @DisplayName("values of other libraries are cut and made printable")
  void foreignValuesAreCutAndMadePrintable() {
    assertThat(LockValues.labelOf("another's")).isEqualTo("another's");
    assertThat(LockValues.labelOf("host:1:" + "0a".repeat(20))).isEqualTo("host:1");
    assertThat(LockValues.labelOf("x\u001b[31m\ny")).isEqualTo("x\ufffd[31m\ufffdy");
    assertThat(LockValues.labelOf("x".repeat(256))).isEqualTo("x".repeat(256));
    assertThat(LockValues.labelOf("x".repeat(257))).isEqualTo("x".repeat(256) + "…");
  }

  static List<Object> noReplies() {
    return List.of(
        "none",
        List.of("none", ""),
        List.of("none", "", -2L, 0L),
        List.of(1L, "", -2L),
        List.of("none", 1L, -2L),
        List.of("none", "", "-2"));
  }

  @ParameterizedTest
  @MethodSource("noReplies")
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a malformed reply to an inspection is no vote")
  void malformedReplyToAnInspectionIsNoVote(Object bad) {
    var status = inspect();
    List<Asked> asked = nodes.take();
    asked.subList(0, 2).forEach(a -> reply(a, NOTHING));
    asked.subList(2, 5).forEach(a -> reply(a, bad));

    assertThatThrownBy(status::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("'a'", "2 of 5", "h3:6379", "h4:6379", "h5:6379");
  }

  @Test
  @Rule({"INSP-1", "ERR-1"})
  @DisplayName("a minority that is silent is waited for, until its time is up")
  void aMinorityThatIsSilentIsWaitedFor() {
    var status = inspect();
    List<Asked> asked = nodes.take();
    asked.subList(0, 3).forEach(a -> reply(a, held(ALICE, 9_000)));
    time.advance(Duration.ofMillis(49));
    assertThat(status).isNotDone();
    time.advance(Duration.ofMillis(1));

    assertThat(status.join().orElseThrow().votes().granted()).isEqualTo(3);
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a forced release is true if one node had the lock")
  void forcedReleaseIsTrueIfOneNodeHadTheLock() {
    var removed = forceRelease();
    List<Asked> asked = nodes.take();
    assertThat(asked.get(0).command().words()).contains(Scripts.REMOVE.sha1(), "app:a");
    reply(asked.get(0), Scripts.MINE);
    asked.subList(1, 5).forEach(a -> reply(a, Scripts.MISSING));

    assertThat(removed).isCompletedWithValue(true);
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a forced release of a free lock is false")
  void forcedReleaseOfAFreeLockIsFalse() {
    var removed = forceRelease();
    nodes.answer(a -> reply(a, Scripts.MISSING));

    assertThat(removed).isCompletedWithValue(false);
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("a forced release that no quorum answers is an outage")
  void aForcedReleaseWithoutAQuorumIsAnOutage() {
    var removed = forceRelease();
    List<Asked> asked = nodes.take();
    asked.subList(0, 2).forEach(a -> reply(a, Scripts.MINE));
    time.advance(Duration.ofSeconds(1));

    assertThatThrownBy(removed::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("'a'", "2 of 5");
  }

  @Test
  @Rule("ACQ-9")
  @DisplayName("a forced release removes no key of another type, and names its nodes")
  void forcedReleaseRemovesNoKeyOfAnotherType() {
    var removed = forceRelease();
    List<Asked> asked = nodes.take();
    asked.subList(0, 2).forEach(a -> a.round().error(a.node(), "WRONGTYPE it is no lock"));
    asked.subList(2, 5).forEach(a -> reply(a, Scripts.MISSING));

    assertThatThrownBy(removed::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("'app:a'", "h1:6379, h2:6379")
        .hasMessageNotContaining("h3");
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a lock is removed although another node has a key of another type")
  void lockIsRemovedDespiteAKeyOfAnotherType() {
    var removed = forceRelease();
    List<Asked> asked = nodes.take();
    asked.get(0).round().error(0, "WRONGTYPE it is no lock");
    asked.subList(1, 5).forEach(a -> reply(a, Scripts.MINE));

    assertThat(removed).isCompletedWithValue(true);
  }

  private CompletableFuture<Optional<LockStatus>> inspect() {
    return primitive.inspect("a");
  }

  private CompletableFuture<Boolean> forceRelease() {
    return primitive.forceRelease("a");
  }

  private static List<Object> held(String value, long ttlMillis) {
    return List.of("string", value, ttlMillis);
  }

  private static void reply(Asked asked, Object reply) {
    asked.round().reply(asked.node(), reply);
  }
}
