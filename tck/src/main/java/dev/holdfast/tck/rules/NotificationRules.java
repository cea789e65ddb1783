package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Waiters are notified of releases by other managers. A backend may leave that out: then a waiter
 * of a plain name is not notified while nothing is wrong, and these rules are not shown.
 */
public abstract class NotificationRules {
  /**
   * The time in which waiters of a backend with notifications are served, even on a busy machine.
   */
  private static final Duration NOTIFIED = Duration.ofMillis(700);

  private static final int TRIES = 2;

  /** More than a command to subscribe holds, with long names. */
  private static final int MANY = 48;

  /** Such names, and those that a pattern of theirs would match instead of them. */
  private static final List<String> ENDS =
      List.of(
          "*",
          "?",
          "[ab]",
          "[^a]",
          "a\\*",
          "\\",
          " with spaces ",
          "\t\r\n",
          "\u00e9\u4e2d\ud83d\udd12",
          "{tag}",
          "$:%/,;|@#",
          "\"'`",
          "\u0000",
          "long" + "n".repeat(900));

  /** The subscriptions on each node that do not belong to a name, such as one that always lasts. */
  private List<Integer> withoutWaiters = List.of();

  final TckFixture fixture;

  public NotificationRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that each way to release publishes, and that channels are taken literally")
  void everyWayToReleaseNotifiesTheWaiterOfAnyName() {
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    tried(
        () -> {
          List<Waited> all = new ArrayList<>();
          for (int i = 0; i < ENDS.size(); i++) {
            all.add(Waited.begin(fixture, holder, waits, fixture.name("n" + ENDS.get(i))));
          }
          List<ReleaseWay> ways = List.of(ReleaseWay.values());
          for (ReleaseWay way : ways) {
            all.add(Waited.begin(fixture, holder, waits, fixture.name(way.name())));
          }
          awaitSubscribed(all.size());
          for (int i = 0; i < all.size(); i++) {
            all.get(i).release(ways.get(Math.max(0, i - ENDS.size())));
          }
          assertServed(all);
        });
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that a name is subscribed as it is, and not as a pattern of names")
  void aReleaseOfAnotherNameWakesNoWaiter() {
    TckLink link = Needs.link(fixture, needsNode());
    LockManager holder = fixture.open();
    LockManager waits = patientOn(link);
    needsNotifications(holder, waits);
    tried(() -> assertWakesNoOther(link, holder, waits, fixture.name("n")));
  }

  private void assertWakesNoOther(
      TckLink link, LockManager holder, LockManager waits, String base) {
    List<Waited> patterns = new ArrayList<>();
    for (String end : List.of("*", "?", "[1-9]", "[^a]")) {
      patterns.add(Waited.begin(fixture, holder, waits, base + end));
    }
    awaitSubscribed(patterns.size());
    List<Integer> before = patterns.stream().map(one -> requests(link, one)).toList();
    assertThat(before).as("requests before").doesNotContain(0);

    for (int i = 1; i < 9; i++) {
      TckFixture.regardless(fixture.take(holder, base + i, fixture.ttl())::release);
    }

    boolean stays =
        Attempts.stays(
            () -> patterns.stream().map(one -> requests(link, one)).toList().equals(before));
    patterns.forEach(Waited::end);
    assertThat(stays)
        .as("waiters make no attempt because locks of other names were released")
        .isTrue();
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that the end of a subscribing connection is reported, and made again")
  void waitersAreNotifiedAfterTheirSubscriptionsWereCut() {
    needsSubscriptions();
    Needs.of(fixture, TckFault.SUBSCRIPTIONS_CUT, TckFault.CUT);
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    List<Waited> all = waited(holder, waits, 4, "cut");
    awaitSubscribed(all.size());
    List<Integer> before = subscriptions();

    Faults.begin(fixture, TckFault.SUBSCRIPTIONS_CUT, fixture.nodes(), "");
    awaitSubscriptionsOf(before, "after the subscribing connections were cut");
    assertServedAfterRelease(all.subList(0, 2));
    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");
    awaitSubscriptionsOf(
        before.stream().map(count -> count - 2).toList(), "after all connections were cut");
    needsVotes(fixture.nodes(), holder, waits);
    assertServedAfterRelease(all.subList(2, 4));
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that the node's answer is reported when a connection is made again")
  void aReleaseThatSubscriptionsMissedIsMadeUpFor() {
    needsSubscriptions();
    Needs.of(fixture, TckFault.SUBSCRIPTIONS_CUT);
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    List<Waited> all = waited(holder, waits, 2, "missed");
    awaitSubscribed(all.size());

    Faults.begin(fixture, TckFault.SUBSCRIPTIONS_CUT, fixture.nodes(), "");
    assertServedAfterRelease(all);
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that a node which is back is subscribed to again, without the waiter's doing")
  void waitersAreNotifiedByAnyQuorumOfNodes() {
    needsSubscriptions();
    Needs.nodes(fixture, 3);
    Needs.of(fixture, TckFault.DEAD);
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    Waited first = waited(holder, waits, 1, "first").get(0);
    waited(holder, waits, 1, "stays");
    awaitSubscribed(2);
    List<Integer> before = subscriptions();
    int minority = fixture.minority().size();
    List<TckNode> last =
        fixture.nodes().subList(fixture.nodes().size() - minority, fixture.nodes().size());

    Faults.begin(fixture, TckFault.DEAD, fixture.minority(), "");
    assertServedAfterRelease(List.of(first));
    Faults.end(TckFault.DEAD, fixture.minority(), "");
    awaitSubscriptionsOf(before.stream().map(count -> count - 1).toList(), "after a restart");
    needsVotes(fixture.minority(), holder, waits);
    List<Waited> second = waited(holder, waits, 1, "second");
    awaitSubscribed(2);
    Faults.begin(fixture, TckFault.DEAD, last, "");
    assertServedAfterRelease(second);
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that a node that hung is still subscribed to when it answers")
  void waitersAreNotifiedWhileAnyMinorityHangs() {
    needsSubscriptions();
    Needs.nodes(fixture, 3);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager holder = fixture.open("nodeTimeout=50ms", "quorumTimeout=2s");
    LockManager waits = fixture.open(Waited.PATIENT, "nodeTimeout=50ms", "quorumTimeout=2s");
    needsNotifications(holder, waits);
    List<Waited> all = waited(holder, waits, 3, "hangs");
    awaitSubscribed(all.size());
    List<TckNode> last =
        fixture
            .nodes()
            .subList(fixture.nodes().size() - fixture.minority().size(), fixture.nodes().size());

    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    assertServedAfterRelease(all.subList(0, 1));
    Faults.end(TckFault.FROZEN, fixture.minority(), "");
    needsVotes(fixture.minority(), holder, waits);
    awaitSubscribed(2); // on a busy machine it has hung for so long that it was dropped
    Faults.begin(fixture, TckFault.FROZEN, last, "");
    assertServedAfterRelease(all.subList(1, 2));
    Faults.end(TckFault.FROZEN, last, "");
    needsVotes(last, holder, waits);
    awaitSubscribed(1);
    assertServedAfterRelease(all.subList(2, 3));
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that no command about one channel is about all, and that none is cut short")
  void aWaiterThatGoesSilencesNoOther() {
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    tried(
        () -> {
          List<Waited> all = waited(holder, waits, MANY, "m".repeat(900));
          awaitSubscribed(MANY);
          for (int i = 0; i < MANY; i += 2) {
            all.get(i).end();
          }
          awaitSubscribed(MANY / 2);
          List<Waited> left = all.stream().filter(Waited::isWaiting).toList();
          left.forEach(one -> one.release(ReleaseWay.RELEASE_ASYNC_AND_RELEASE));
          assertServed(left);
        });
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that the end of one manager's subscription ends no other manager's")
  void aManagerThatNoLongerWaitsSilencesNoOtherManager() {
    LockManager holder = fixture.open();
    LockManager waits = patient();
    LockManager passing = patient();
    needsNotifications(holder, waits);
    tried(
        () -> {
          List<Waited> all = waited(holder, waits, 4, "shared");
          awaitSubscribed(all.size());
          List<CompletableFuture<?>> others = new ArrayList<>();
          for (Waited one : all) {
            LockRequest request = fixture.request(one.name()).waitForever();
            others.add(passing.tryAcquireAsync(request));
          }
          Attempts.comes(() -> false); // until both managers are subscribed
          others.forEach(other -> other.cancel(true));
          Attempts.comes(() -> false); // until one of them no longer is
          all.forEach(one -> one.release(ReleaseWay.RELEASE));
          assertServed(all);
        });
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that a name is subscribed again right after it was unsubscribed")
  void aNameThatIsWaitedForAgainIsSubscribedToAgain() {
    Seed seed = new Seed();
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);
    tried(
        () -> {
          List<Waited> all = waited(holder, waits, 6, "again");
          for (int round = 0; round < 8; round++) {
            for (Waited one : all) {
              LockRequest request = fixture.request(one.name()).waitForever();
              one.cancel();
              CompletableFuture<?> passing = waits.tryAcquireAsync(request);
              seed.pauseUpTo(1_000);
              passing.cancel(true);
            }
          }
          List<CompletableFuture<?>> last = new ArrayList<>();
          for (Waited one : all) {
            last.add(waits.tryAcquireAsync(fixture.request(one.name()).waitForever()));
          }
          awaitSubscribed(all.size());
          all.forEach(one -> one.release(ReleaseWay.CLOSE));
          fixture
              .soon()
              .until(
                  "waiters were notified of names that were waited for before",
                  () -> last.stream().allMatch(CompletableFuture::isDone));
        });
  }

  @Test
  @Rule("WAIT-11")
  @IfThisFails("check that the last waiter of a name unsubscribes, however its wait ends")
  void aManagerIsSubscribedOnlyToNamesThatItWaitsFor() {
    needsSubscriptions();
    LockManager holder = fixture.open();
    LockManager waits = patient();
    needsNotifications(holder, waits);

    List<Waited> all = waited(holder, waits, 6, "ends");
    Call<?> interrupted = Call.begin(() -> waits.acquire(all.get(0).name(), fixture.ttl()));
    List<Call<?>> unsuccessful = new ArrayList<>();
    for (Asking way : Asking.values()) {
      LockRequest brief = fixture.request(held(holder)).waitAtMost(Duration.ofMillis(50));
      unsuccessful.add(Call.begin(() -> way.ask(waits, brief)));
    }
    awaitSubscribed(all.size());
    interrupted.interrupt();
    all.subList(0, 3).forEach(Waited::cancel);
    all.subList(3, 6).forEach(one -> one.release(ReleaseWay.RELEASE));
    unsuccessful.forEach(call -> call.awaited(fixture));

    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(subscriptions())
                    .as("subscriptions of a manager without waiters, on each node")
                    .isEqualTo(withoutWaiters));
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that the connections for notifications are closed, though some waiters wait")
  void noConnectionAndNoSubscriptionIsLeftOfWaiters() {
    Counts.needsConnections(fixture);
    needsSubscriptions();
    LockManager holder = fixture.open();
    for (String option : List.of("connect=eager", "connect=lazy")) {
      LockManager waits =
          option.endsWith("lazy") ? fixture.open(Waited.PATIENT, option) : patient();
      fixture.take(holder, fixture.name("warm"), fixture.ttl()).close();
      int connections = Counts.connections(fixture);
      int subscriptions = Counts.subscriptions(fixture);
      waited(holder, waits, 3, "closed");
      Attempts.comes(() -> Counts.subscriptions(fixture) > subscriptions);

      waits.close();

      Counts.awaitNoMoreConnections(fixture, connections);
      fixture
          .soon()
          .untilAsserted(
              () ->
                  assertThat(Counts.subscriptions(fixture))
                      .as("subscriptions")
                      .isLessThanOrEqualTo(subscriptions));
    }
  }

  @Test
  @Rule("OPEN-6")
  @IfThisFails("check that each connection logs in: also the one for notifications, and later ones")
  void aLoginIsThatOfEveryConnection() throws InterruptedException {
    Needs.of(fixture, TckFault.LOGIN_NEEDED);
    List<String> uris = OnNodes.urisWithLogin(fixture);
    boolean notifies = isNotified(fixture.open(), patient());
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");
    LockManager holder = fixture.openOn(uris);
    LockManager waits = fixture.openOn(uris, Waited.PATIENT);
    for (int cut = 0; cut < 2; cut++) {
      for (LockManager locks : List.of(holder, waits)) {
        fixture
            .soon()
            .until("a lock is granted to a user", () -> isUsable(locks, fixture.name("user")));
      }
      if (notifies) {
        fixture
            .soon()
            .until(
                "a waiter of a manager that logs in was notified", () -> isNotified(holder, waits));
      }
      if (cut == 0 && Faults.areKnown(fixture, TckFault.CUT)) {
        Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");
      }
    }
  }

  /** Tries again where it is not seen whether waiters are subscribed yet. */
  private void tried(Eventually.Assertions once) {
    if (countsSubscriptions()) {
      fixture.soon().untilAsserted(once);
    } else {
      Retries.anyOf(once);
    }
  }

  private boolean isUsable(LockManager locks, String name) throws InterruptedException {
    try {
      return locks.tryAcquire(name, fixture.ttl()).filter(lease -> lease.release()).isPresent();
    } catch (LockException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  private TckNode needsNode() {
    Needs.nodes(fixture, 1);
    return fixture.node(0);
  }

  private LockManager patient() {
    return fixture.open(Waited.PATIENT);
  }

  private LockManager patientOn(TckLink link) {
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    return fixture.openOn(uris, Waited.PATIENT);
  }

  private String held(LockManager holder) {
    return fixture.take(holder, fixture.name("busy"), fixture.ttl()).name();
  }

  private List<Waited> waited(LockManager holder, LockManager waits, int names, String end) {
    List<Waited> all = new ArrayList<>();
    for (int i = 0; i < names; i++) {
      all.add(Waited.begin(fixture, holder, waits, fixture.name(end)));
    }
    return all;
  }

  /**
   * Waits until both managers use these nodes again: a waiter that is notified makes one attempt,
   * and then backs off for longer than the test.
   */
  private void needsVotes(List<TckNode> nodes, LockManager holder, LockManager waits) {
    for (TckNode node : nodes) {
      Attempts.needsVote(fixture, holder, node);
      Attempts.needsVote(fixture, waits, node);
    }
  }

  /** Leaves the test out where no waiter is notified, though nothing is wrong. */
  private void needsNotifications(LockManager holder, LockManager waits) {
    for (int i = 0; i < TRIES; i++) {
      if (isNotified(holder, waits)) {
        if (countsSubscriptions()) {
          awaitAtRest();
          withoutWaiters = subscriptions();
        }
        return;
      }
    }
    Waited.abortWithoutNotifications();
  }

  private boolean isNotified(LockManager holder, LockManager waits) {
    int before = Counts.subscriptions(fixture);
    Waited probe = Waited.begin(fixture, holder, waits, fixture.name("probe"));
    try {
      if (countsSubscriptions()) {
        int needed = before + fixture.nodes().size();
        long begun = System.nanoTime();
        while (Counts.subscriptions(fixture) < needed
            && Elapsed.since(begun).compareTo(NOTIFIED) < 0) {
          Attempts.pause();
        }
      } else {
        Attempts.comes(() -> false); // until it has made its first attempt
      }
      return probe.isServedWithin(NOTIFIED);
    } finally {
      probe.end();
    }
  }

  private boolean countsSubscriptions() {
    return Counts.countsSubscriptions(fixture);
  }

  private void needsSubscriptions() {
    Needs.nodes(fixture, 1);
    if (!countsSubscriptions()) {
      abort("this environment's nodes do not count subscriptions");
    }
  }

  private List<Integer> subscriptions() {
    return fixture.nodes().stream().map(node -> node.subscriptions().orElse(0)).toList();
  }

  /** Waits until each node has so many subscriptions. Goes on if they never come. */
  private void awaitSubscribed(int names) {
    if (countsSubscriptions()) {
      fixture.awaitRegardless(
          "all names are subscribed to",
          () -> {
            List<Integer> now = subscriptions();
            return IntStream.range(0, now.size())
                .allMatch(i -> now.get(i) >= withoutWaiters.get(i) + names);
          });
    } else {
      Attempts.comes(() -> false); // until waiters have made their first attempts
    }
  }

  /** Waits until no subscription comes or goes. */
  private void awaitAtRest() {
    fixture
        .soon()
        .until(
            "subscriptions stay as they are",
            () -> {
              List<Integer> now = subscriptions();
              return Attempts.stays(() -> subscriptions().equals(now));
            });
  }

  private void awaitSubscriptionsOf(List<Integer> counts, String when) {
    fixture
        .soon()
        .untilAsserted(
            () -> {
              List<Integer> now = subscriptions();
              for (int i = 0; i < now.size(); i++) {
                assertThat(now.get(i))
                    .as("subscriptions on %s %s", fixture.node(i).address(), when)
                    .isGreaterThanOrEqualTo(counts.get(i));
              }
            });
  }

  private void assertServedAfterRelease(List<Waited> some) {
    some.forEach(one -> one.release(ReleaseWay.RELEASE));
    assertServed(some);
  }

  private void assertServed(List<Waited> all) {
    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(all.stream().filter(Waited::isWaiting).map(Waited::name))
                    .as("waiters that were not notified of a release")
                    .isEmpty());
  }

  private static int requests(TckLink link, Waited waited) {
    return link.requests(waited.name()).size();
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that a subscribing connection is closed without an answer of its node")
  void noThreadIsLeftOfSubscriptionsAtNodesThatHang() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    String name = fixture.name("waited-for");
    OnNodes.occupy(fixture, fixture.nodes(), name);

    Threads.requireFewLeftOfAll(
        fixture,
        "managers with waiters left fewer threads than that while nodes hung",
        () -> {
          Faults.end(TckFault.FROZEN, fixture.minority(), "");
          List<LockManager> managers = new ArrayList<>();
          for (int i = 0; i < Threads.MANAGERS; i++) {
            LockManager waits = fixture.open("nodeTimeout=200ms");
            OnNodes.take(fixture, waits, fixture.name("warm"), fixture.ttl());
            managers.add(waits);
          }
          LockRequest request = LockRequest.of(name, fixture.ttl()).waitForever();
          managers.stream().limit(2).forEach(waits -> waits.tryAcquireAsync(request));
          Attempts.stays(() -> true); // these are subscribed before nodes hang
          Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
          managers.stream().skip(2).forEach(waits -> waits.tryAcquireAsync(request));
          Attempts.stays(() -> true); // and those while they do
          managers.forEach(LockManager::close);
        });
  }
}
