package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A listener learns of requests, leases and votes. */
public abstract class ListenerRules {
  private static final Duration HOUR = Duration.ofHours(1);

  final TckFixture fixture;
  private final EventLog log = new EventLog();

  public ListenerRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  private LockManager listened(String... options) {
    LockManager locks = fixture.open(options);
    locks.addListener(log);
    return locks;
  }

  private void awaitEvents(String name, String... events) {
    fixture
        .soon()
        .untilAsserted(() -> assertThat(log.about(name)).as(name).containsExactly(events));
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that a grant and a refusal are reported, once each, with the reason")
  void aGrantAndARefusalAreReportedOnce() throws Exception {
    LockManager locks = listened();
    String free = fixture.name("free");
    fixture.take(locks, free, fixture.ttl());
    String taken = fixture.name("taken");
    fixture.take(fixture.open(), taken, fixture.ttl());

    assertThat(locks.tryAcquire(taken, fixture.ttl())).isEmpty();

    awaitEvents(taken, "not granted CONTENDED");
    assertThat(log.about(free)).contains("granted");
    assertThat(log.about(free).stream().filter("granted"::equals)).hasSize(1);
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that a request that is refused before any I/O has a result, too")
  void aRequestThatIsRefusedBeforeAnyInputIsReported() {
    LockManager locks = listened();
    String tooLong = fixture.name("too-long");
    String late = fixture.name("late");

    assertThatThrownBy(() -> locks.tryAcquire(tooLong, Duration.ofDays(400)))
        .isInstanceOf(LockConfigurationException.class);
    locks.close();
    assertThatThrownBy(() -> locks.tryAcquire(late, fixture.ttl()))
        .isInstanceOf(IllegalStateException.class);

    awaitEvents(tooLong, "not granted CONFIGURATION");
    awaitEvents(late, "not granted CLOSED");
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that a wait that its caller ends is reported as interrupted")
  void aWaitThatIsGivenUpIsReported() throws Exception {
    LockManager locks = listened();
    String name = fixture.name("busy");
    fixture.take(fixture.open(), name, fixture.ttl());
    CompletableFuture<Optional<Lease>> future =
        locks.tryAcquireAsync(LockRequest.of(name, fixture.ttl()).waitForever());
    Call<Lease> call = Call.begin(() -> locks.acquire(name, fixture.ttl()));
    fixture.soon().until("a thread waited", call::isWaiting);

    future.cancel(true);
    call.interrupt();

    call.awaited(fixture);
    awaitEvents(name, "not granted INTERRUPTED", "not granted INTERRUPTED");
  }

  @Test
  @Rule("LISTEN-1")
  @IfThisFails("check that an outage is reported as one, not as contention")
  void anOutageIsReported() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = listened("nodeTimeout=100ms");
    fixture.take(locks, fixture.name("before"), fixture.ttl());
    String name = fixture.name("silent");

    Faults.whileFrozen(
        fixture,
        fixture.blocking(),
        () ->
            assertThatThrownBy(() -> locks.tryAcquire(name, fixture.ttl()))
                .isInstanceOf(LockOutageException.class));

    awaitEvents(name, "not granted OUTAGE");
  }

  @Test
  @Rule("LISTEN-14")
  @IfThisFails("check that the manager has the listeners of open(url, settings) before it connects")
  void aListenerOfTheBuilderMissesNothing() {
    EventLog other = new EventLog();
    LockManager locks =
        ByUrl.openUnlessRefused(fixture, ByUrl.builder(fixture).listener(log).listener(other));
    String name = fixture.name("first");

    Lease lease = fixture.take(locks, name, fixture.ttl());

    assertThat(log.about(name)).containsExactly("granted");
    TckFixture.regardless(lease::release);
    fixture.soon().untilAsserted(() -> assertThat(ends(name)).hasSize(1));
    fixture.soon().untilAsserted(() -> assertThat(other.about(name)).isEqualTo(log.about(name)));
    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(locks.nodes())
                    .allSatisfy(
                        node ->
                            assertThat(log.about(node.address()))
                                .contains("node " + node.state())));
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that a release is reported when it is answered, and once")
  void aReleaseIsReportedOnce() {
    LockManager locks = listened();
    String name = fixture.name("released");
    Lease lease = fixture.take(locks, name, fixture.ttl());

    TckFixture.regardless(lease::release);
    TckFixture.regardless(lease::release);
    lease.close();

    fixture.soon().untilAsserted(() -> assertThat(ends(name)).containsExactly("released"));
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that a transfer is reported as one, once, and nothing after it")
  void aTransferIsReportedOnceAndNothingAfterIt() {
    Needs.of(fixture, LockCapability.TRANSFER);
    LockManager locks = listened();
    String name = fixture.name("transferred");
    Lease lease = fixture.take(locks, name, fixture.ttl());

    TransferredLock.text(fixture, lease, fixture.ttl());
    TckFixture.regardless(lease::release);
    locks.close();

    fixture.soon().untilAsserted(() -> assertThat(ends(name)).containsExactly("transferred"));
    assertThat(log.about(name)).endsWith("transferred");
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that a loss is reported with its reason, and once")
  void aLossIsReportedOnceWithItsReason() {
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(log);
    String expired = fixture.name("expired");
    Lease lease = fixture.take(locks, expired, fixture.briefTtl());
    String closed = fixture.name("closed");
    fixture.take(locks, closed, fixture.ttl());
    fixture.awaitOver(lease);

    locks.close();
    TckFixture.regardless(lease::release);

    fixture.soon().untilAsserted(() -> assertThat(ends(expired)).containsExactly("lost EXPIRED"));
    fixture.soon().untilAsserted(() -> assertThat(ends(closed)).containsExactly("lost CLOSED"));
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that a release that no quorum answers is reported as unconfirmed")
  void aReleaseThatNoNodeAnswersIsReportedAsUnconfirmed() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = listened("nodeTimeout=100ms");
    String name = fixture.name("unconfirmed");
    Lease lease = fixture.take(locks, name, fixture.ttl());

    Faults.whileFrozen(
        fixture,
        fixture.blocking(),
        () -> assertThat(catchThrowable(lease::release)).isInstanceOf(LockOutageException.class));

    fixture
        .soon()
        .untilAsserted(() -> assertThat(ends(name)).containsExactly("released unconfirmed"));
  }

  @Test
  @Rule("LISTEN-2")
  @IfThisFails("check that grants that no caller takes end as released")
  void everyGrantEndsWhateverItsCallerDoes() {
    LockManager locks = listened();
    List<String> names = new ArrayList<>();
    Seed seed = new Seed();
    for (int i = 0; i < 50; i++) {
      names.add(fixture.name("cancelled"));
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(LockRequest.of(names.get(i), fixture.ttl()));
      seed.pauseUpTo(300);
      if (!future.cancel(true)) {
        future.thenAccept(lease -> lease.ifPresent(Lease::close));
      }
    }
    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(names)
                    .allSatisfy(
                        name ->
                            assertThat(ofLease(name))
                                .as("%s; %s", name, seed)
                                .isIn(List.of(), List.of("granted", "released"))));
  }

  @Test
  @Rule("LISTEN-3")
  @IfThisFails("check that a grant is reported before the caller has the lease, and its end last")
  void aLeaseIsReportedInItsOrder() throws Exception {
    LockManager locks = listened();
    List<Call<Boolean>> calls = new ArrayList<>();
    List<String> names = new CopyOnWriteArrayList<>();
    List<String> unreported = new CopyOnWriteArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      calls.add(
          Call.begin(
              () -> {
                for (int i = 0; i < 10; i++) {
                  String name = fixture.name("ordered");
                  names.add(name);
                  Lease lease = fixture.take(locks, name, fixture.ttl());
                  if (!log.about(name).contains("granted")) {
                    unreported.add(name);
                  }
                  TckFixture.regardless(lease::release);
                }
                return true;
              }));
    }
    for (Call<Boolean> call : calls) {
      call.awaited(fixture);
    }

    assertThat(unreported).as("locks that callers had before their grant was reported").isEmpty();
    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(names)
                    .hasSize(40)
                    .allSatisfy(
                        name ->
                            assertThat(withRenewals(name)).containsExactly("granted", "released")));
  }

  @Test
  @Rule("LISTEN-4")
  @IfThisFails("check that each call of a listener is guarded against all that it throws")
  void aListenerThatThrowsChangesNothing() throws Exception {
    LockManager locks = fixture.open();
    locks.addListener(new ThrowingListener());
    locks.addListener(log);
    for (int i = 0; i < 3; i++) {
      String name = fixture.name("thrown");

      Lease lease = fixture.take(locks, name, fixture.ttl());
      assertThat(fixture.gets(locks, name)).isFalse();
      TckFixture.regardless(lease::release);

      fixture
          .soon()
          .untilAsserted(
              () -> assertThat(log.about(name)).contains("granted").contains("released"));
    }
  }

  @Test
  @Rule("LISTEN-4")
  @IfThisFails("check that the first failure of a listener is logged, and no further one")
  void aListenerThatThrowsIsLoggedOnce() {
    LockManager locks = fixture.open();
    locks.addListener(new ThrowingListener());
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      for (int i = 0; i < 3; i++) {
        fixture.take(locks, fixture.name("thrown"), fixture.ttl());
      }

      fixture.soon().until("a failure is logged", () -> !failures(logs).isEmpty());
      Attempts.stays(() -> failures(logs).size() < 2);
      assertThat(failures(logs)).hasSize(1);
    }
  }

  /** Tells them from the warning of a call that a busy machine made slow. */
  private static List<String> failures(Logs logs) {
    return logs.warningsOfThisTest().stream()
        .filter(line -> line.contains("a LockListener") && line.contains("failed"))
        .toList();
  }

  @Test
  @Rule("LISTEN-5")
  @IfThisFails("check that calls that block are refused on a thread that runs a listener")
  void aListenerThatBlocksOrClosesIsRefused() throws Exception {
    LockManager locks = fixture.open();
    Lease held = fixture.take(locks, fixture.name("held"), fixture.ttl());
    List<Eventually.Assertions> blocking = BlockingCalls.of(fixture, locks, held);
    List<Throwable> refusals = new CopyOnWriteArrayList<>();
    locks.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            for (Eventually.Assertions call : blocking) {
              Optional.ofNullable(catchThrowable(call::run)).ifPresent(refusals::add);
            }
          }
        });

    Lease lease = fixture.take(locks, fixture.name("granted"), fixture.ttl());

    assertThat(refusals)
        .hasSameSizeAs(blocking)
        .allSatisfy(refusal -> assertThat(refusal).isInstanceOf(IllegalStateException.class));
    assertThat(held.isHeld()).isTrue();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("LISTEN-6")
  @IfThisFails("check that a lease ends in time though a listener has not returned")
  void aListenerThatBlocksLetsNoSecondOwnerIn() throws Exception {
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.openForShortTtl();
    CountDownLatch blocked = new CountDownLatch(1);
    locks.addListener(new Blocking(blocked, fixture.briefTtl().multipliedBy(2)));
    String name = fixture.name("blocked");
    Call<Lease> call = Call.begin(() -> fixture.take(locks, name, fixture.briefTtl()));
    assertThat(blocked.await(fixture.timing().soon().toSeconds(), TimeUnit.SECONDS)).isTrue();

    Lease next = fixture.take(other, name, fixture.ttl());
    call.awaited(fixture);

    call.result().ifPresent(first -> assertThat(first.isHeld()).isFalse());
    assertThat(next.isHeld()).isTrue();
  }

  @Test
  @Rule("LISTEN-7")
  @IfThisFails("check that each renewal is reported with its outcome")
  void aRenewalIsReported() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(log);
    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          String name = fixture.name("renewed");
          Lease lease = fixture.take(locks, LockRequest.of(name, ttl).keepAliveUpTo(HOUR));

          fixture
              .soon()
              .until(
                  "a renewal was reported, or the lease was over",
                  () -> log.about(name).contains("renewal EXTENDED") || !lease.isHeld());

          assertThat(log.about(name)).startsWith("granted").contains("renewal EXTENDED");
        });
  }

  @Test
  @Rule("LISTEN-8")
  @IfThisFails("check that a registration that is closed ends the calls, and no other registration")
  void aRegistrationThatIsClosedEndsTheCalls() {
    LockManager locks = fixture.open();
    EventLog ended = new EventLog();
    LockListener.Registration registration = locks.addListener(ended);
    locks.addListener(log);
    registration.close();
    registration.close();
    String name = fixture.name("after");

    fixture.take(locks, name, fixture.ttl());

    assertThat(log.about(name)).contains("granted");
    assertThat(ended.about(name)).isEmpty();
  }

  @Test
  @Rule("LISTEN-15")
  @IfThisFails("check that the end of a lease is reported to those alone who learned of its grant")
  void aListenerThatIsAddedLaterLearnsOfNoEarlierLease() {
    LockManager locks = listened();
    EventLog later = new EventLog();
    String name = fixture.name("earlier");
    Lease lease = fixture.take(locks, name, fixture.ttl());
    locks.addListener(later);

    TckFixture.regardless(lease::release);

    awaitEvents(name, "granted", "released");
    assertThat(later.about(name)).isEmpty();
  }

  @Test
  @Rule("LISTEN-9")
  @IfThisFails("check that a call of more than 20 ms is logged, and the next one is not")
  void aListenerThatTakesLongIsLoggedOnce() {
    LockManager locks = fixture.open();
    locks.addListener(new Slow());
    try (Logs logs = Logs.kept()) {
      logs.needsToBeSeen();
      for (int i = 0; i < 3; i++) {
        fixture.take(locks, fixture.name("slow"), fixture.ttl());
      }

      assertThat(logs.warningsOfThisTest().stream().filter(line -> line.contains("a LockListener")))
          .hasSize(1);
    }
  }

  @Test
  @Rule("LISTEN-10")
  @IfThisFails("check that the release of a lease that was lost is reported as an overrun, once")
  void anOverrunIsReported() {
    LockManager locks = fixture.openForShortTtl();
    locks.addListener(log);
    String name = fixture.name("overrun");
    Lease lease = fixture.take(locks, name, fixture.briefTtl());
    fixture.awaitOver(lease);

    TckFixture.regardless(lease::release);
    TckFixture.regardless(lease::release);
    TckFixture.regardless(lease::close);

    fixture
        .soon()
        .untilAsserted(
            () ->
                assertThat(log.about(name).stream().filter("overrun"::equals))
                    .as("overruns of %s", name)
                    .hasSize(1));
  }

  @Test
  @Rule("LISTEN-10")
  @IfThisFails("check that the release of a lease that is held is no overrun")
  void aReleaseInTimeIsNoOverrun() {
    LockManager locks = listened();
    String name = fixture.name("in-time");
    Lease lease = fixture.take(locks, name, fixture.ttl());

    TckFixture.regardless(lease::release);
    TckFixture.regardless(lease::close);

    fixture.soon().untilAsserted(() -> assertThat(ends(name)).isNotEmpty());
    assertThat(log.about(name)).doesNotContain("overrun");
  }

  @Test
  @Rule("LISTEN-11")
  @IfThisFails("check that the numbers of waiting requests and of operations return to zero")
  void theLoadReturnsToZero() throws Exception {
    LockManager locks = fixture.open();
    List<int[]> loads = new CopyOnWriteArrayList<>();
    locks.addListener(
        new LockListener() {
          @Override
          public void onLoad(int waiting, int inFlight) {
            loads.add(new int[] {waiting, inFlight});
          }
        });
    String name = fixture.name("load");
    for (int i = 0; i < 5; i++) {
      Lease lease = fixture.take(locks, name, fixture.ttl());
      fixture.gets(locks, name);
      TckFixture.regardless(lease::release);
    }

    fixture
        .soon()
        .until(
            "nothing waits and nothing is in flight",
            () -> !loads.isEmpty() && sum(loads.get(loads.size() - 1)) == 0);
    assertThat(loads.stream().mapToInt(ListenerRules::sum).max().orElse(0)).isPositive();
    assertThat(loads).allSatisfy(load -> assertThat(load[0]).isNotNegative());
  }

  @Test
  @Rule("LISTEN-12")
  @IfThisFails("check that the vote of each node on an attempt is reported")
  void theVotesOfNodesAreReported() throws Exception {
    LockManager locks = listened();
    String name = fixture.name("voted");
    fixture.take(locks, name, fixture.ttl());
    int quorum = votersOfOneLock(locks) / 2 + 1;
    fixture.gets(locks, name);

    fixture
        .soon()
        .untilAsserted(
            () -> {
              assertThat(nodesThatVoted("vote GRANTED")).hasSizeGreaterThanOrEqualTo(quorum);
              assertThat(nodesThatVoted("vote REFUSED")).hasSizeGreaterThanOrEqualTo(quorum);
            });
  }

  /** Returns how many nodes vote on a lock, or one where each lock is two, and one may decide. */
  private int votersOfOneLock(LockManager locks) {
    return fixture.environment().holdsTwoLocks() ? 1 : locks.nodes().size();
  }

  private List<String> nodesThatVoted(String vote) {
    return log.events().stream()
        .filter(event -> event.text().equals(vote))
        .map(EventLog.Event::subject)
        .distinct()
        .toList();
  }

  private static int sum(int[] load) {
    return load[0] + load[1];
  }

  private List<String> ends(String name) {
    return log.about(name).stream()
        .filter(text -> text.matches("(released|transferred|lost).*"))
        .toList();
  }

  /** Returns the calls about leases on one lock, but no overruns. */
  private List<String> withRenewals(String name) {
    return log.events().stream()
        .filter(event -> event.subject().equals(name) && event.leaseId() != 0)
        .map(EventLog.Event::text)
        .filter(text -> !text.equals("overrun"))
        .toList();
  }

  /** Returns the grants of one lock and the ends of its leases. */
  private List<String> ofLease(String name) {
    return withRenewals(name).stream().filter(text -> !text.startsWith("renewal")).toList();
  }

  /** Does not return from a grant for longer than its lease is valid. */
  private record Blocking(CountDownLatch blocked, Duration time) implements LockListener {
    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      blocked.countDown();
      long end = System.nanoTime() + time.toNanos();
      while (end - System.nanoTime() > 0) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
    }
  }

  /** Takes longer than a listener may. */
  private static final class Slow implements LockListener {
    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      long begun = System.nanoTime();
      while (System.nanoTime() - begun < 25_000_000) {
        Thread.onSpinWait();
      }
    }
  }
}
