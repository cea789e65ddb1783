package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.LockPrimitive.Watch;
import dev.holdfast.redlock.ScriptedNodes.ScriptedEar;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** When what nodes publish is news, and who listens to them. */
class NoticesTest {
  private static final String CHANNEL = "holdfast:released:a";
  private static final Duration RECONNECT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);
  private final Set<Integer> away = new HashSet<>();
  private final Notices notices = new Notices(nodes, node -> !away.contains(node), time, "own");
  private int news;

  @Test
  @DisplayName("WAIT-11: a release is news once a quorum of nodes has told it, and only once")
  void aReleaseIsNewsOnceAQuorumHasToldIt() {
    watch("a");
    tell("other:1", 0, 1, 1, 0);
    assertThat(news).isZero();
    tell("other:1", 4);
    assertThat(news).isOne();
    tell("other:1", 2, 3, 4);
    assertThat(news).as("of the same release").isOne();
  }

  @Test
  @DisplayName("WAIT-11: after a driver could not listen, the next who waits asks all nodes")
  void aDriverThatCannotListenIsAskedAgain() {
    notices.watch("first", () -> {});
    nodes.cannotListen(1, new OutOfMemoryError("unable to create native thread"));
    away.add(1);
    notices.changed(1);
    away.remove(1);
    assertThatThrownBy(() -> watch("a")).isInstanceOf(OutOfMemoryError.class);
    nodes.cannotListen(1, null);

    watch("a");
    for (int node = 1; node < 5; node++) {
      assertThat(Objects.requireNonNull(nodes.ear(node)).channels)
          .as("at " + node)
          .contains(CHANNEL);
    }
  }

  @Test
  @DisplayName("WAIT-11: nodes that tell of one release late do not make another news early")
  void theLastToTellOfOneReleaseDoNotMakeAnotherNews() {
    watch("a");
    tell("other:1", 0, 1, 2);
    tell("other:2", 0);
    tell("other:1", 3, 4);
    assertThat(news).isOne();

    tell("other:2", 1);
    assertThat(news).as("two of five").isOne();
    tell("other:2", 3);
    assertThat(news).isEqualTo(2);
  }

  @Test
  @DisplayName("WAIT-11: of a node that is thirty releases behind the others each is news")
  void aNodeThatIsFarBehindCounts() {
    watch("a");
    for (int release = 1; release <= 31; release++) {
      tell("other:" + release, 0, 1);
    }
    for (int release = 1; release <= 31; release++) {
      tell("other:" + release, 2);
      assertThat(news).isEqualTo(release);
    }
  }

  @Test
  @DisplayName("WAIT-11: releases that all have told leave the place to those that a node owes")
  void releasesThatAllHaveToldLeaveThePlace() {
    watch("a");
    tell("other:0", 0, 1);
    for (int release = 1; release <= 100; release++) {
      tell("other:" + release, 0, 1, 2, 3, 4);
    }
    news = 0;
    tell("other:0", 2);
    assertThat(news).isOne();
  }

  @Test
  @DisplayName("WAIT-11: a release that was told by few nodes, and forgotten, can still be news")
  void aReleaseThatWasForgottenCanStillBeNews() {
    watch("a");
    tell("other:1", 0, 1);
    for (int release = 2; release <= 33; release++) {
      tell("other:" + release, 0);
    }
    tell("other:1", 2);
    assertThat(news).as("it was forgotten").isZero();
    tell("other:1", 3, 4);
    assertThat(news).isOne();
  }

  @Test
  @DisplayName("WAIT-11: a connection that listens always has a channel, which users may hear")
  void aConnectionThatListensAlwaysHasAChannel() {
    watch("a").close();
    assertThat(Objects.requireNonNull(nodes.ear(0)).channels).isEmpty();
    assertThat(Objects.requireNonNull(nodes.ear(0)).always).isEqualTo("holdfast:released");
  }

  @Test
  @DisplayName("WAIT-11: one's own releases are no news")
  void onesOwnReleasesAreNoNews() {
    watch("a");
    tell("own:1", 0, 1, 2, 3, 4);
    assertThat(news).isZero();
  }

  @Test
  @DisplayName("WAIT-11: nobody listens before somebody waits, nor to what nobody waits for")
  void nobodyListensToWhatNobodyWaitsFor() {
    assertThat(nodes.ear(0)).isNull();
    Watch first = watch("a");
    watch("b");
    assertThat(ear(0).channels).containsExactly(CHANNEL, "holdfast:released:b");

    first.close();
    assertThat(ear(4).channels).containsExactly("holdfast:released:b");
    tell("other:1", 0, 1, 2);
    assertThat(news).isZero();
  }

  @Test
  @DisplayName("WAIT-11: who comes when another goes is heard")
  void whoComesWhenAnotherGoesIsHeard() {
    Watch gone = watch("a");
    watch("a");
    gone.close();

    assertThat(ear(0).channels).containsExactly(CHANNEL);
    tell("other:1", 0, 1, 2);
    assertThat(news).isOne();
  }

  @Test
  @DisplayName("WAIT-11: a connection that ended is made again a second later, if somebody waits")
  void aConnectionThatEndedIsMadeAgain() {
    Watch waiting = watch("a");
    ScriptedEar first = ear(1);
    first.breakOff();
    time.advance(RECONNECT);
    assertThat(ear(1)).isNotSameAs(first);
    assertThat(ear(1).channels).containsExactly(CHANNEL);

    waiting.close();
    ScriptedEar second = ear(1);
    second.breakOff();
    time.advance(RECONNECT);
    assertThat(ear(1)).as("nobody waits").isSameAs(second);
    watch("a");
    assertThat(ear(1)).isNotSameAs(second);
  }

  @Test
  @DisplayName("WAIT-11: a node that does not let itself be listened to is asked once a second")
  void aNodeThatDoesNotLetItselfBeListenedToIsAskedOnceASecond() {
    watch("a");
    for (int second = 1; second <= 3; second++) {
      ear(1).breakOff();
      for (int name = 0; name < 100; name++) {
        watch("b" + second + name);
      }
      assertThat(nodes.listens(1)).isEqualTo(second);
      time.advance(RECONNECT);
      assertThat(nodes.listens(1)).isEqualTo(second + 1);
    }
  }

  @Test
  @DisplayName("WAIT-11: a node that is away is not listened to, and is as soon as it is back")
  void aNodeThatIsAwayIsNotListenedTo() {
    away.add(1);
    watch("a");
    assertThat(nodes.ear(1)).isNull();
    away.remove(1);
    notices.changed(1);
    ScriptedEar first = ear(1);
    assertThat(first.channels).containsExactly(CHANNEL);

    away.add(1);
    notices.changed(1);
    assertThat(first.closed).as("it may hang").isTrue();
    away.remove(1);
    notices.changed(1);
    assertThat(ear(1)).isNotSameAs(first);
  }

  @Test
  @DisplayName("WAIT-11: that a connection ended which was replaced since ends no other")
  void theEndOfAConnectionThatWasReplacedEndsNoOther() {
    watch("a");
    ScriptedEar first = ear(1);
    away.add(1);
    notices.changed(1);
    away.remove(1);
    notices.changed(1);
    first.breakOff();
    time.advance(RECONNECT);
    assertThat(nodes.listens(1)).isEqualTo(2);
  }

  @Test
  @DisplayName("CLOSE-4: nobody listens once the manager is closed")
  void nobodyListensOnceTheManagerIsClosed() {
    watch("a");
    ear(2).breakOff();
    notices.close();
    time.advance(RECONNECT);

    for (int node = 0; node < 5; node++) {
      assertThat(ear(node).closed).isTrue();
    }
  }

  @Test
  @DisplayName("WAIT-10, WAIT-13: a release shows how many others listen; oneself is no other")
  void aReleaseShowsHowManyOthersListen() {
    assertThat(others(Scripts.MINE)).isZero();
    assertThat(others(heardBy(1))).isOne();

    watch("a");
    assertThat(others(heardBy(1))).as("nothing was heard yet").isOne();
    assertThat(others(heardBy(3))).as("nothing was heard yet").isEqualTo(2);
    tell("own:f00", 0);
    assertThat(others(heardBy(1))).isZero();
    assertThat(others(Scripts.MINE, heardBy(1))).as("deaf at node 1").isOne();
    tell("own:f00", 1);
    assertThat(others(Scripts.MINE, heardBy(1))).isZero();
    assertThat(others(heardBy(4), heardBy(3))).isEqualTo(3);
    assertThat(others(heardBy(3), heardBy(4))).isEqualTo(3);
    ear(0).breakOff();
    assertThat(others(heardBy(1))).as("deaf again").isOne();
  }

  @Test
  @DisplayName("WAIT-10: others wait, for all that is known, where nobody is told")
  void othersWaitForAllThatIsKnownWhereNobodyIsTold() {
    assertThat(notices.none().others()).isOne();
    assertThat(others(Scripts.MINE_AND_MUTE)).isOne();
    assertThat(others(heardBy(2), Scripts.MINE_AND_MUTE)).isEqualTo(2);
  }

  @Test
  @DisplayName("WAIT-11: what too few nodes let one publish is not tried again")
  void whatTooFewNodesLetOnePublishIsNotTriedAgain() {
    Notices.News first = notices.ofRelease("a", "label:f00");
    assertThat(first.message()).containsExactly("own:f00");
    first.answered(0, Scripts.MINE_AND_MUTE);
    first.answered(1, Scripts.MINE_AND_MUTE);
    first.answered(1, Scripts.MINE_AND_MUTE);
    Notices.News second = notices.ofRelease("a", "label:f01");
    assertThat(second.message()).as("three of five can make news").isNotEmpty();
    second.answered(4, Scripts.MINE_AND_MUTE);
    assertThat(notices.ofRelease("a", "label:f02").message()).isEmpty();
    assertThat(notices.ofRelease("a", "label:f02").others()).isOne();
  }

  private static Long heardBy(int listeners) {
    return Scripts.MINE_AND_MUTE + listeners;
  }

  private int others(Long... replies) {
    Notices.News ours = notices.ofRelease("a", "label:f00");
    for (int node = 0; node < replies.length; node++) {
      ours.answered(node, replies[node]);
    }
    return ours.others();
  }

  private Watch watch(String key) {
    return notices.watch(key, () -> news++);
  }

  private void tell(String message, int... tellers) {
    for (int node : tellers) {
      ear(node).heard.message(CHANNEL, message);
    }
  }

  private ScriptedEar ear(int node) {
    return Objects.requireNonNull(nodes.ear(node));
  }
}
