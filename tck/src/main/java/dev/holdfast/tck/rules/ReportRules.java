package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A report comes neither before its event nor not at all. */
public abstract class ReportRules {
  private static final Duration HOUR = Duration.ofHours(1);

  final TckFixture fixture;
  private final EventLog log = new EventLog();

  public ReportRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that the end of a lease is reported when its release has been answered")
  void noEndIsReportedBeforeItsReleaseIsAnswered() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(TckFixture.NO_OUTAGE);
    locks.addListener(log);
    Lease lease = OnNodes.take(fixture, locks, fixture.name("unanswered"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());

    CompletableFuture<Boolean> released = lease.releaseAsync();

    boolean stays = Attempts.stays(() -> log.about(lease.name()).equals(List.of("granted")));
    boolean isAnswered = released.isDone();
    Faults.end(TckFault.FROZEN, fixture.nodes(), lease.name());
    if (isAnswered) {
      AnotherRule.isBroken("a release is over before a node has answered");
    }
    assertThat(stays).as("only the grant is reported while no node answers").isTrue();
    fixture
        .soon()
        .untilAsserted(
            () -> assertThat(log.about(lease.name())).containsExactly("granted", "released"));
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that an adoption is one attempt, also if no quorum answers it")
  void anAdoptionThatNoQuorumAnswersHasOneResult() {
    Needs.of(fixture, LockCapability.TRANSFER);
    Needs.of(fixture, TckFault.FROZEN);
    TransferredLock lock = TransferredLock.of(fixture, "unanswered");
    LockManager locks = fixture.open("nodeTimeout=300ms");
    OnNodes.take(fixture, locks, fixture.name("warm"), fixture.ttl());
    locks.addListener(log);
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lock.name());

    TckFixture.regardless(() -> locks.adopt(lock.text(), fixture.request(lock.name())));

    fixture.awaitRegardless("its result is reported", () -> !log.about(lock.name()).isEmpty());
    Attempts.stays(() -> log.about(lock.name()).size() < 2);
    assertThat(log.about(lock.name())).as("results of one adoption").hasSize(1);
  }

  @Test
  @Rule("LISTEN-3")
  @IfThisFails("check that leases() shows a lease when its grant is reported")
  void aGrantIsReportedOnceTheLeaseIsShown() {
    LockManager locks = fixture.open();
    List<String> unseen = new CopyOnWriteArrayList<>();
    locks.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            if (locks.leases().stream().map(HeldLock::name).noneMatch(name::equals)) {
              unseen.add(name);
            }
          }
        });
    for (Asking way : Asking.values()) {
      LockRequest request = fixture.request(fixture.name("granted"));
      TckFixture.regardless(() -> way.ask(locks, request));
    }

    assertThat(unseen).as("locks whose grant was reported before leases() showed them").isEmpty();
  }

  @Test
  @Rule("LISTEN-7")
  @IfThisFails("check that a renewal which finds a loss is reported, with this outcome")
  void aRenewalThatFindsALossIsReported() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(log);

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          LockRequest request = LockRequest.of(fixture.name("lost"), ttl);
          Lease lease = fixture.take(locks, request.keepAliveUpTo(HOUR));
          OnNodes.occupy(fixture, fixture.nodes(), lease.name());
          fixture.awaitRegardless(
              "the loss is reported",
              () -> log.about(lease.name()).stream().anyMatch(text -> text.startsWith("lost")));
          if (!log.about(lease.name()).contains("lost TAKEN")) {
            AnotherRule.isBroken("the loss is reported as " + log.about(lease.name()));
          }

          assertThat(log.about(lease.name())).endsWith("renewal LOST", "lost TAKEN");
        });
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails(
      "check that each call of the builder's listener is passed on, with all that it tells")
  void aListenerOfTheBuilderLearnsOfAllThatAnAddedOneLearns() throws InterruptedException {
    LockManager locks = ByUrl.openUnlessRefused(fixture, ByUrl.builder(fixture).listener(log));
    EventLog added = new EventLog();
    locks.addListener(added);
    Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
    TckFixture.regardless(() -> Attempts.once(locks, lease.name(), fixture.ttl()));
    TckFixture.regardless(lease::release);
    Lease lost = fixture.take(locks, fixture.name("lost"), fixture.briefTtl());
    fixture.awaitOver(lost);
    TckFixture.regardless(lost::release);
    Lease transferred = fixture.take(locks, fixture.name("transferred"), fixture.ttl());
    if (fixture.declares(LockCapability.TRANSFER)) {
      TckFixture.regardless(() -> transferred.transfer(fixture.ttl()));
    }
    Lease renewed = fixture.take(locks, renewed("renewed"));
    if (fixture.declares(LockCapability.KEEP_ALIVE)) {
      fixture.awaitRegardless(
          "it is renewed", () -> added.about(renewed.name()).contains("renewal EXTENDED"));
    }

    for (Lease each : List.of(lease, lost, transferred, renewed)) {
      String name = each.name();
      fixture.soon().untilAsserted(() -> assertThat(log.about(name)).isEqualTo(added.about(name)));
    }
  }

  @Test
  @Rule("LISTEN-8")
  @IfThisFails("check that the builder's listeners are kept in a list, as they were given")
  void listenersOfTheBuilderAreCalledEachThoughTheyAreEqual() {
    EventLog equal = new EqualLog();
    EventLog another = new EqualLog();
    LockManager locks =
        ByUrl.openUnlessRefused(
            fixture,
            ByUrl.builder(fixture).listener(log).listener(log).listener(equal).listener(another));
    String name = fixture.name("heard");

    fixture.take(locks, name, fixture.ttl());

    assertThat(log.about(name))
        .as("to a listener given twice")
        .containsExactly("granted", "granted");
    assertThat(equal.about(name)).as("to one of two equal listeners").contains("granted");
    assertThat(another.about(name)).as("to the other one").contains("granted");
  }

  private LockRequest renewed(String end) {
    LockRequest request = LockRequest.of(fixture.name(end), fixture.shortTtl());
    return fixture.declares(LockCapability.KEEP_ALIVE) ? request.keepAliveUpTo(HOUR) : request;
  }

  @Test
  @Rule("LISTEN-8")
  @IfThisFails("check that a registration is found by itself, and not by its listener")
  void eachOfTwoRegistrationsOfOneListenerEndsItsOwnCalls() {
    LockManager locks = fixture.open();
    LockListener.Registration first = locks.addListener(log);
    LockListener.Registration second = locks.addListener(log);
    String name = fixture.name("after");

    first.close();
    first.close();
    fixture.take(locks, name + "-first", fixture.ttl());
    assertThat(log.about(name + "-first")).as("with one registration").containsExactly("granted");
    second.close();
    fixture.take(locks, name + "-second", fixture.ttl());

    assertThat(log.about(name + "-second")).as("with no registration").isEmpty();
  }

  @Test
  @Rule("LISTEN-8")
  @IfThisFails("check that a registration is known by its identity, not by equals()")
  void closingARegistrationEndsNoCallsOfAnEqualListener() {
    LockManager locks = fixture.open();
    EventLog closed = new EqualLog();
    EventLog open = new EqualLog();
    locks.addListener(open);
    LockListener.Registration registration = locks.addListener(closed);
    registration.close();
    String name = fixture.name("after");

    fixture.take(locks, name, fixture.ttl());

    assertThat(open.about(name)).as("reports to the other listener").contains("granted");
    assertThat(closed.about(name)).as("reports to the listener that was removed").isEmpty();
  }

  /** Equal to every other one. */
  private static final class EqualLog extends EventLog {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof EqualLog;
    }

    @Override
    public int hashCode() {
      return 1;
    }
  }

  @Test
  @Rule("LISTEN-10")
  @IfThisFails("check that each way to release a lease that was lost reports an overrun")
  void anOverrunIsReportedWhateverTheWayToRelease() {
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(log);
    Map<ReleaseWay, Lease> leases = new EnumMap<>(ReleaseWay.class);
    for (ReleaseWay way : ReleaseWay.values()) {
      leases.put(way, fixture.take(locks, fixture.name(way.name()), fixture.briefTtl()));
    }
    leases.values().forEach(fixture::awaitOver);

    leases.forEach((way, lease) -> way.release(fixture, lease));

    leases.forEach(
        (way, lease) ->
            fixture
                .soon()
                .untilAsserted(
                    () ->
                        assertThat(log.about(lease.name()).stream().filter("overrun"::equals))
                            .as("overruns by %s", way)
                            .hasSize(1)));
  }

  @Test
  @Rule("LISTEN-12")
  @IfThisFails("check that the vote of a straggler is reported when it comes after the decision")
  void theVoteOfAStragglerIsReported() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open();
    locks.addListener(log);
    Lease before = OnNodes.take(fixture, locks, fixture.name("before"), fixture.ttl());
    Attempts.release(fixture, before);
    Needs.nodesShown(fixture, locks);
    Attempts.comes(() -> false); // until all earlier votes are reported
    int seen = votes(fixture.minority());

    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    Optional<Lease> lease = Attempts.answered(fixture, asked(locks));
    Faults.end(TckFault.FROZEN, fixture.minority(), "");

    if (lease.isEmpty()) {
      AnotherRule.isBroken("a quorum of nodes is not enough");
    }
    fixture
        .soon()
        .until(
            "the votes of stragglers are reported",
            () -> votes(fixture.minority()) >= seen + fixture.minority().size());
  }

  private CompletableFuture<Optional<Lease>> asked(LockManager locks) {
    return locks.tryAcquireAsync(fixture.request(fixture.name("voted")));
  }

  private int votes(List<TckNode> nodes) {
    return nodes.stream()
        .mapToInt(
            node -> (int) log.about(node.address()).stream().filter("vote GRANTED"::equals).count())
        .sum();
  }
}
