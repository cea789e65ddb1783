package dev.holdfast.redlock.internal.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.core.LockPrimitive.Watch;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.ScriptedSubscription;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Release notifications: when waiters receive them, and which keys are subscribed. */
class ReleaseNotificationsTest {
  private static final String CHANNEL = "holdfast:released:a";
  private static final Duration RECONNECT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);
  private final Set<Integer> away = new HashSet<>();
  private final ReleaseNotifications notifications =
      new ReleaseNotifications(nodes, node -> !away.contains(node), time, "own");
  private int notified;

  @Test
  @Rule("WAIT-11")
  @DisplayName("a waiter is notified once when a quorum of nodes has published a" + " release")
  void waiterIsNotifiedOnceAQuorumHasPublished() {
    watch("a");
    publish("other:1", 0, 1, 1, 0);
    assertThat(notified).isZero();
    publish("other:1", 4);
    assertThat(notified).isOne();
    publish("other:1", 2, 3, 4);
    assertThat(notified).as("of the same release").isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("after a driver failed to subscribe, the next waiter asks all nodes")
  void failedSubscriptionIsTriedAgain() {
    notifications.watch("first", () -> {});
    nodes.cannotSubscribe(1, new OutOfMemoryError("unable to create native thread"));
    away.add(1);
    notifications.onConnectionChanged(1);
    away.remove(1);
    assertThatThrownBy(() -> watch("a")).isInstanceOf(OutOfMemoryError.class);
    nodes.cannotSubscribe(1, null);

    watch("a");
    for (int node = 1; node < 5; node++) {
      assertThat(Objects.requireNonNull(nodes.subscription(node)).channels)
          .as("at " + node)
          .contains(CHANNEL);
    }
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("late messages of one release do not count for another")
  void lateMessagesOfOneReleaseDoNotCountForAnother() {
    watch("a");
    publish("other:1", 0, 1, 2);
    publish("other:2", 0);
    publish("other:1", 3, 4);
    assertThat(notified).isOne();

    publish("other:2", 1);
    assertThat(notified).as("two of five").isOne();
    publish("other:2", 3);
    assertThat(notified).isEqualTo(2);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a node that is thirty releases behind the others still counts")
  void nodeThatIsFarBehindCounts() {
    watch("a");
    for (int release = 1; release <= 31; release++) {
      publish("other:" + release, 0, 1);
    }
    for (int release = 1; release <= 31; release++) {
      publish("other:" + release, 2);
      assertThat(notified).isEqualTo(release);
    }
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("releases that all nodes have published make room for others")
  void releasesThatAllNodesPublishedAreForgotten() {
    watch("a");
    publish("other:0", 0, 1);
    for (int release = 1; release <= 100; release++) {
      publish("other:" + release, 0, 1, 2, 3, 4);
    }
    notified = 0;
    publish("other:0", 2);
    assertThat(notified).isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName(
      "a release that few nodes published, and that was forgotten, can" + " still be notified")
  void forgottenReleaseCanStillBeNotified() {
    watch("a");
    publish("other:1", 0, 1);
    for (int release = 2; release <= 33; release++) {
      publish("other:" + release, 0);
    }
    publish("other:1", 2);
    assertThat(notified).as("it was forgotten").isZero();
    publish("other:1", 3, 4);
    assertThat(notified).isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a subscription always has a channel, which users may subscribe to")
  void subscriptionAlwaysHasAChannel() {
    watch("a").close();
    assertThat(Objects.requireNonNull(nodes.subscription(0)).channels).isEmpty();
    assertThat(Objects.requireNonNull(nodes.subscription(0)).always).isEqualTo("holdfast:released");
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a manager's own releases are ignored")
  void ownReleasesAreIgnored() {
    watch("a");
    publish("own:1", 0, 1, 2, 3, 4);
    assertThat(notified).isZero();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("only keys that have a waiter are subscribed")
  void onlyKeysWithAWaiterAreSubscribed() {
    assertThat(nodes.subscription(0)).isNull();
    Watch first = watch("a");
    watch("b");
    assertThat(subscription(0).channels).containsExactly(CHANNEL, "holdfast:released:b");

    first.close();
    assertThat(subscription(4).channels).containsExactly("holdfast:released:b");
    publish("other:1", 0, 1, 2);
    assertThat(notified).isZero();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a waiter that comes as another leaves is notified")
  void newWaiterReplacesTheFormerOne() {
    Watch gone = watch("a");
    watch("a");
    gone.close();

    assertThat(subscription(0).channels).containsExactly(CHANNEL);
    publish("other:1", 0, 1, 2);
    assertThat(notified).isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a subscription that ended is replaced a second later, if there is" + " a waiter")
  void endedSubscriptionIsReplaced() {
    Watch waiting = watch("a");
    ScriptedSubscription first = subscription(1);
    first.breakOff();
    time.advance(RECONNECT);
    assertThat(subscription(1)).isNotSameAs(first);
    assertThat(subscription(1).channels).containsExactly(CHANNEL);

    waiting.close();
    ScriptedSubscription second = subscription(1);
    second.breakOff();
    time.advance(RECONNECT);
    assertThat(subscription(1)).as("nobody waits").isSameAs(second);
    watch("a");
    assertThat(subscription(1)).isNotSameAs(second);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a waiter is notified once when a node is subscribed to again")
  void waiterIsNotifiedWhenANodeIsSubscribedToAgain() {
    watch("a");
    notifications.watch("b", () -> {});
    time.advance(Duration.ZERO);
    assertThat(notified).as("when it began").isZero();
    subscription(1).breakOff();
    publish("other:1", 0, 2);
    assertThat(notified).as("before").isZero();

    Watch late = notifications.watch("a", () -> notified++);
    time.advance(RECONNECT);
    assertThat(notified).as("a release that node 1 published meanwhile").isOne();
    late.close();
    notifications.watch("c", () -> {});
    time.advance(RECONNECT);
    assertThat(notified).as("later").isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a waiter is notified when a node that was down is subscribed to again")
  void waiterIsNotifiedWhenANodeIsBack() {
    watch("a");
    away.add(1);
    notifications.onConnectionChanged(1);
    time.advance(RECONNECT);
    assertThat(notified).isZero();

    away.remove(1);
    notifications.onConnectionChanged(1);
    time.advance(Duration.ZERO);
    assertThat(notified).isOne();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a subscription that a driver ends at once is tried again a second later")
  void subscriptionThatEndsAtOnceIsTriedAgain() {
    nodes.endsSubscriptions(1);
    watch("a");
    time.advance(RECONNECT);
    assertThat(subscription(1).channels).containsExactly(CHANNEL);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a node that refuses subscriptions is asked once a second")
  void refusedSubscriptionIsTriedOnceASecond() {
    watch("a");
    for (int second = 1; second <= 3; second++) {
      subscription(1).breakOff();
      for (int name = 0; name < 100; name++) {
        watch("b" + second + name);
      }
      assertThat(nodes.subscriptions(1)).isEqualTo(second);
      time.advance(RECONNECT);
      assertThat(nodes.subscriptions(1)).isEqualTo(second + 1);
    }
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a node that is down is subscribed as soon as it is back")
  void nodeThatIsDownIsSubscribedOnItsReturn() {
    away.add(1);
    watch("a");
    assertThat(nodes.subscription(1)).isNull();
    away.remove(1);
    notifications.onConnectionChanged(1);
    ScriptedSubscription first = subscription(1);
    assertThat(first.channels).containsExactly(CHANNEL);

    away.add(1);
    notifications.onConnectionChanged(1);
    assertThat(first.closed).as("it may hang").isTrue();
    away.remove(1);
    notifications.onConnectionChanged(1);
    assertThat(subscription(1)).isNotSameAs(first);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("the end of a subscription that was replaced ends no other")
  void endOfAReplacedSubscriptionEndsNoOther() {
    watch("a");
    ScriptedSubscription first = subscription(1);
    away.add(1);
    notifications.onConnectionChanged(1);
    away.remove(1);
    notifications.onConnectionChanged(1);
    first.breakOff();
    time.advance(RECONNECT);
    assertThat(nodes.subscriptions(1)).isEqualTo(2);
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("closing the manager ends all subscriptions")
  void closingEndsAllSubscriptions() {
    watch("a");
    subscription(2).breakOff();
    notifications.close();
    time.advance(RECONNECT);

    for (int node = 0; node < 5; node++) {
      assertThat(subscription(node).closed).isTrue();
    }
  }

  @Test
  @Rule({"WAIT-10", "WAIT-13"})
  @DisplayName("a release shows how many other managers wait")
  void releaseShowsHowManyOtherManagersWait() {
    assertThat(others(Scripts.MINE)).isZero();
    assertThat(others(publishedTo(1))).isOne();

    watch("a");
    assertThat(others(publishedTo(1))).as("nothing was heard yet").isOne();
    assertThat(others(publishedTo(3))).as("nothing was heard yet").isEqualTo(2);
    publish("own:f00", 0);
    assertThat(others(publishedTo(1))).isZero();
    assertThat(others(Scripts.MINE, publishedTo(1))).as("deaf at node 1").isOne();
    publish("own:f00", 1);
    assertThat(others(Scripts.MINE, publishedTo(1))).isZero();
    assertThat(others(publishedTo(4), publishedTo(3))).isEqualTo(3);
    assertThat(others(publishedTo(3), publishedTo(4))).isEqualTo(3);
    subscription(0).breakOff();
    assertThat(others(publishedTo(1))).as("deaf again").isOne();
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("if nothing is published, other managers may wait")
  void withoutPublishingOthersMayWait() {
    assertThat(notifications.none().others()).isOne();
    assertThat(others(Scripts.MINE_UNPUBLISHED)).isOne();
    assertThat(others(publishedTo(2), Scripts.MINE_UNPUBLISHED)).isEqualTo(2);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("publishing that too few nodes allow is not tried again")
  void refusedPublishingIsNotTriedAgain() {
    ReleaseNotifications.ReleaseNotification first = notifications.ofRelease("a", "label:f00");
    assertThat(first.message()).containsExactly("own:f00");
    first.onReply(0, Scripts.MINE_UNPUBLISHED);
    first.onReply(1, Scripts.MINE_UNPUBLISHED);
    first.onReply(1, Scripts.MINE_UNPUBLISHED);
    ReleaseNotifications.ReleaseNotification second = notifications.ofRelease("a", "label:f01");
    assertThat(second.message()).as("three of five can make it").isNotEmpty();
    second.onReply(4, Scripts.MINE_UNPUBLISHED);
    assertThat(notifications.ofRelease("a", "label:f02").message()).isEmpty();
    assertThat(notifications.ofRelease("a", "label:f02").others()).isOne();
  }

  private static Long publishedTo(int listeners) {
    return Scripts.MINE_UNPUBLISHED + listeners;
  }

  private int others(Long... replies) {
    ReleaseNotifications.ReleaseNotification ours = notifications.ofRelease("a", "label:f00");
    for (int node = 0; node < replies.length; node++) {
      ours.onReply(node, replies[node]);
    }
    return ours.others();
  }

  private Watch watch(String key) {
    return notifications.watch(key, () -> notified++);
  }

  private void publish(String message, int... nodes) {
    for (int node : nodes) {
      subscription(node).subscription.onMessage(CHANNEL, message);
    }
  }

  private ScriptedSubscription subscription(int node) {
    return Objects.requireNonNull(nodes.subscription(node));
  }
}
