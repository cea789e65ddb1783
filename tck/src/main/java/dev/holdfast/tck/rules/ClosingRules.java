package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A manager is closed while it is in use. */
public abstract class ClosingRules {
  private static final Duration LONG = Duration.ofHours(1);

  /** Longer than it takes a waiter to be subscribed at all nodes. */
  private static final Duration TO_SUBSCRIBE = Duration.ofSeconds(1);

  /** The time that a manager may take to close, in addition to a grace. */
  private static final Duration TO_CLOSE = Duration.ofSeconds(3);

  final TckFixture fixture;

  public ClosingRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that close() releases nothing: a holder may still be at work")
  void theKeysOfOpenLeasesStay() throws InterruptedException {
    String name = fixture.name("open");
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, name, fixture.ttl());
    Lease ofThreadThatEnded =
        Call.begin(() -> fixture.take(closing, fixture.name("passed-on"), fixture.ttl()))
            .awaited(fixture)
            .result()
            .orElseGet(() -> AnotherRule.isBroken("another thread gets no lock"));

    closing.close();

    assertThat(Attempts.staysTaken(fixture, lease)).as("others are kept out").isTrue();
    assertThat(Attempts.staysTaken(fixture, ofThreadThatEnded))
        .as("others are kept out of a lock whose lease a thread got that has ended")
        .isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that the end of a grace releases nothing")
  void theKeysOfLeasesThatOutlastAGraceStay() throws InterruptedException {
    String name = fixture.name("open");
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, name, fixture.ttl());

    closing.close(Duration.ofMillis(50));

    assertThat(Attempts.staysTaken(fixture, lease)).as("others are kept out").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that a lease that was closed with its manager releases nothing later")
  void theReleaseOfALeaseThatWasClosedLetsNoOtherOwnerIn() throws InterruptedException {
    String name = fixture.name("open");
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, name, fixture.ttl());
    closing.close();

    TckFixture.regardless(lease::release);
    TckFixture.regardless(lease::close);

    assertThat(Attempts.staysTaken(fixture, lease)).as("others are kept out").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that closing ends the renewals, so that the keys expire")
  void openLeasesAreNoLongerRenewed() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Needs.nodes(fixture, 1);
    String name = fixture.name("left");
    LockManager closing = fixture.openForShortTtl();
    OnNodes.take(fixture, closing, LockRequest.of(name, fixture.shortTtl()).keepAliveUpTo(LONG));

    closing.close();

    Counts.settledRequests(fixture); // a renewal may have been in flight
    List<Duration> left = timesToLive(name);
    long closed = System.nanoTime();
    fixture
        .soon()
        .until(
            "the time for a renewal was over",
            () -> {
              List<Duration> now = timesToLive(name);
              for (int i = 0; i < now.size(); i++) {
                assertThat(now.get(i)).isLessThanOrEqualTo(left.get(i));
              }
              return System.nanoTime() - closed > fixture.shortTtl().dividedBy(2).toNanos();
            });
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that closing ends held leases for their holders, with the reason")
  void openLeasesEndForTheirHolders() throws InterruptedException {
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, fixture.name("open"), fixture.ttl());

    closing.close();

    assertThatThrownBy(lease::requireHeld).isInstanceOf(LockLostException.class);
    fixture.soon().until("it is over for its holder", () -> !lease.isHeld());
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was closed cannot be extended")
  void aLeaseThatWasClosedIsNotExtended() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, fixture.name("open"), fixture.ttl());

    closing.close();

    assertThatThrownBy(() -> lease.extend(fixture.ttl())).isInstanceOf(RuntimeException.class);
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that a closed manager says that it is closed, and takes nothing")
  void aClosedManagerGrantsNothing() {
    String name = fixture.name("free");
    LockManager closing = fixture.open();

    closing.close();

    assertThatThrownBy(() -> closing.tryAcquire(name, fixture.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closing.acquire(name, fixture.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () ->
                fixture
                    .soon()
                    .get(
                        "the future was over",
                        closing.tryAcquireAsync(LockRequest.of(name, fixture.ttl()))))
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(OnNodes.isFree(fixture.nodes(), name)).isTrue();
    closing.close();
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that closing ends the wait of all waiters, and that they get no lock")
  void waitersAreRefusedAndTakeNothing() throws InterruptedException {
    String name = fixture.name("busy");
    Contender contender = Contender.holding(fixture, name);
    LockManager closing = fixture.open();
    Call<Lease> thread = Call.begin(() -> closing.acquire(name, fixture.ttl()));
    fixture.soon().until("a thread waited", thread::isWaiting);
    CompletableFuture<Optional<Lease>> future =
        closing.tryAcquireAsync(LockRequest.of(name, fixture.ttl()).waitForever());

    closing.close();

    assertThat(thread.awaited(fixture).thrown()).containsInstanceOf(IllegalStateException.class);
    fixture.soon().until("the future was over", future::isDone);
    assertThatThrownBy(future::join).hasCauseInstanceOf(IllegalStateException.class);
    contender.letGo();
    Attempts.awaitFreeForGood(fixture, name);
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check what becomes of a grant that comes while the manager is closed")
  void attemptsInFlightAreGrantedAndClosedOrLeaveNothing() {
    Seed seed = new Seed();
    for (int round = 0; round < 10; round++) {
      LockManager closing = fixture.open();
      List<String> names = new ArrayList<>();
      List<CompletableFuture<Optional<Lease>>> attempts = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        names.add(fixture.name("under-way"));
        attempts.add(closing.tryAcquireAsync(LockRequest.of(names.get(i), fixture.ttl())));
      }
      seed.pauseUpTo(2_000);
      closing.close();

      for (int i = 0; i < attempts.size(); i++) {
        CompletableFuture<Optional<Lease>> attempt = attempts.get(i);
        fixture.soon().until("an attempt was over; " + seed, attempt::isDone);
        if (attempt.isCompletedExceptionally()) {
          Attempts.awaitFree(fixture, names.get(i));
        } else {
          fixture
              .soon()
              .until(
                  "a lease was over; " + seed,
                  () -> attempt.join().filter(Lease::isHeld).isEmpty());
        }
      }
    }
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that a manager is closed to new requests before it waits for holders")
  void nothingIsGrantedWithinAGrace() throws InterruptedException {
    String name = fixture.name("free");
    LockManager closing = fixture.open();
    fixture.take(closing, fixture.name("open"), fixture.ttl());
    untilClosing(closing(closing, LONG));

    assertThatThrownBy(() -> closing.tryAcquire(name, fixture.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThat(OnNodes.isFree(fixture.nodes(), name)).isTrue();
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that close(grace) waits for holders, who still hold, and for no longer")
  void aGraceLetsHoldersRelease() throws InterruptedException {
    LockManager closing = fixture.open();
    Lease lease = fixture.take(closing, fixture.name("open"), fixture.ttl());
    Call<?> close = closing(closing, LONG);
    untilClosing(close);

    assertThat(Attempts.stays(() -> !close.isOver())).as("it waits: %s", close).isTrue();
    assertThat(lease.isHeld()).isTrue();
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThatCode(() -> lease.extend(fixture.ttl())).as("extend").doesNotThrowAnyException();
    }
    TckFixture.regardless(lease::release);

    close.awaited(fixture);
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that leases are renewed until a grace ends")
  void leasesAreKeptAliveWithinAGrace() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);

    Retries.anyOf(
        fixture.shortTtl(),
        ttl -> {
          LockManager closing = fixture.openForShortTtl();
          Lease lease = fixture.take(closing, keptAlive("kept", ttl));
          Lease probe = fixture.take(fixture.openForShortTtl(), keptAlive("probe", ttl));
          long begun = System.nanoTime();
          Call<?> close = closing(closing, LONG);

          fixture.awaitPast(begun, ttl.multipliedBy(5).dividedBy(4));

          if (!probe.isHeld()) {
            AnotherRule.isBroken("leases are not kept alive");
          }
          assertThat(lease.isHeld()).isTrue();
          assertThat(close.isOver()).isFalse();
          TckFixture.regardless(lease::release);
          close.awaited(fixture);
        });
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that a grace has an end")
  void aGraceEnds() throws InterruptedException {
    Duration grace = Duration.ofMillis(200);
    LockManager closing = fixture.open();
    fixture.take(closing, fixture.name("open"), fixture.ttl());

    try (Stalls stalls = Stalls.watched()) {
      Duration took = closing(closing, grace).awaited(fixture).took();

      assertThat(took).isBetween(grace.minusMillis(1), grace.plus(TO_CLOSE).plus(stalls.worst()));
    }
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that an interrupt ends a grace, and stays set for the closing thread")
  void anInterruptEndsAGraceAndIsKept() throws InterruptedException {
    LockManager closing = fixture.open();
    fixture.take(closing, fixture.name("open"), fixture.ttl());
    Call<Boolean> close =
        Call.begin(
            () -> {
              closing.close(LONG);
              return Thread.currentThread().isInterrupted();
            });
    untilClosing(close);

    close.interrupt();

    assertThat(close.awaited(fixture).result()).as("the flag, %s", close).hasValue(true);
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that a thread that was interrupted before it closes does not wait")
  void anInterruptBeforehandLeavesNoGraceAndIsKept() throws InterruptedException {
    LockManager closing = fixture.open();
    fixture.take(closing, fixture.name("open"), fixture.ttl());

    Call<Boolean> close =
        Call.begin(
            () -> {
              Thread.currentThread().interrupt();
              closing.close(LONG);
              return Thread.currentThread().isInterrupted();
            });

    assertThat(close.awaited(fixture).result()).as("the flag, %s", close).hasValue(true);
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that close() by another thread ends a grace")
  void anotherThreadsCloseEndsAGrace() throws InterruptedException {
    LockManager closing = fixture.open();
    fixture.take(closing, fixture.name("open"), fixture.ttl());
    Call<?> close = closing(closing, LONG);
    untilClosing(close);

    Call<?> another = closing(closing, Duration.ZERO);

    another.awaited(fixture);
    close.awaited(fixture);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that what a manager started for itself ends with it")
  void noThreadIsLeft() {
    Threads.requireFewLeft(fixture, "managers left fewer threads than that", this::useAndClose);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that close(grace) ends all that close() does")
  void noThreadIsLeftAfterAGrace() {
    Threads.requireFewLeft(
        fixture,
        "managers that were closed with a grace left fewer threads than that",
        () -> {
          LockManager locks = fixture.open();
          Attempts.release(fixture, fixture.take(locks, fixture.name("released"), fixture.ttl()));
          locks.close(LONG);
        });
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that the threads of a connection or subscription end with it")
  void noThreadIsLeftOfConnectionsThatEnded() {
    Needs.of(fixture, TckFault.CUT);
    AtomicBoolean subscribes = new AtomicBoolean(Counts.countsSubscriptions(fixture));
    Threads.requireFewLeft(
        fixture,
        "managers whose connections ended left fewer threads than that",
        () -> cutAndClose(subscribes));
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that nothing waits on for a node that hangs when its manager is closed")
  void noThreadIsLeftWhileNodesHang() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");

    Threads.requireFewLeft(
        fixture, "managers left fewer threads than that while nodes hung", this::useAndClose);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that an interrupt ends no step of closing")
  void noThreadIsLeftByACloseOnAnInterruptedThread() {
    Threads.requireFewLeft(
        fixture,
        "managers that were closed on an interrupted thread left fewer threads than that",
        () -> {
          LockManager locks = fixture.open();
          Attempts.release(fixture, fixture.take(locks, fixture.name("released"), fixture.ttl()));
          Thread.currentThread().interrupt();
          try {
            locks.close();
          } finally {
            Thread.interrupted();
          }
        });
  }

  /** Uses a manager whose connections end, once its waiter is subscribed if it ever is. */
  private void cutAndClose(AtomicBoolean subscribes) throws InterruptedException {
    LockManager holder = fixture.open();
    LockManager cut = fixture.open();
    LockRequest request = LockRequest.of(fixture.name("cut"), fixture.ttl());
    Lease lease = fixture.take(holder, request);
    int all = Counts.subscriptions(fixture) + fixture.nodes().size();
    CompletableFuture<?> waiter = cut.tryAcquireAsync(request.waitAtMost(LONG));
    Attempts.needsVote(fixture, cut, fixture.node(0)); // so that it waits
    if (subscribes.get()
        && Attempts.stays(TO_SUBSCRIBE, () -> Counts.subscriptions(fixture) < all)) {
      subscribes.set(false);
    }

    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");

    fixture.nodes().forEach(node -> Attempts.needsVote(fixture, cut, node));
    TckFixture.regardless(lease::release);
    cut.close();
    holder.close();
    fixture.soon().until("the waiter has ended", waiter::isDone);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that all connections are closed, those that were made again, too")
  void noConnectionIsLeft() throws InterruptedException {
    Counts.needsConnections(fixture);
    int before = Counts.connections(fixture);
    if (Faults.areKnown(fixture, TckFault.CUT)) {
      LockManager reconnected = fixture.open();
      Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");
      fixture.nodes().forEach(node -> Attempts.needsVote(fixture, reconnected, node));
      reconnected.close();
    }

    useAndClose();

    Counts.awaitNoMoreConnections(fixture, before);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that a connection to a node that hangs is closed with its manager")
  void noConnectionIsLeftToNodesThatHung() throws InterruptedException {
    Counts.needsConnections(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    int before = Counts.connections(fixture);
    Faults.begin(fixture, TckFault.FROZEN, fixture.minority(), "");
    useAndClose();
    Faults.end(TckFault.FROZEN, fixture.minority(), "");

    Counts.awaitNoMoreConnections(fixture, before);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that a connection whose greeting fails is closed, whatever fails in it")
  void noConnectionIsLeftOfThoseThatFailed() {
    Counts.needsConnections(fixture);
    Needs.nodeOptions(fixture);
    int before = Counts.connections(fixture);
    List<String> uris = fixture.uris();
    uris.replaceAll(uri -> uri.replaceAll("://([^@/,]*@)?", "://nobody:wrong@"));
    LockManager refused = fixture.openOn(uris, "connect=lazy", "connectTimeout=100ms");
    LockManager silent = fixture.open("connect=lazy", "connectTimeout=100ms", "nodeTimeout=50ms");
    long begun = System.nanoTime();
    if (Faults.areKnown(fixture, TckFault.FROZEN)) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
      attemptUntil(silent, begun, Duration.ofMillis(400));
      Faults.end(TckFault.FROZEN, fixture.nodes(), "");
    }
    attemptUntil(refused, begun, Duration.ofMillis(900));
    silent.close();
    refused.close();

    Counts.awaitNoMoreConnections(fixture, before);
  }

  /** Asks for locks, whatever comes of it, so that a manager connects again and again. */
  private void attemptUntil(LockManager locks, long begun, Duration end) {
    fixture
        .soon()
        .until(
            "some attempts were made",
            () -> {
              Attempts.once(locks, fixture.name("attempt"), fixture.ttl());
              LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
              return Elapsed.since(begun).compareTo(end) > 0;
            });
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that the second connections of a user without scripts are closed, too")
  void noConnectionIsLeftOfAUserWithoutScripts() {
    Counts.needsConnections(fixture);
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    int before = Counts.connections(fixture);
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    Threads.requireFewLeft(
        fixture,
        "managers of a user without scripts left fewer threads than that",
        () -> {
          try (LockManager locks = WithoutScripts.opened(fixture, fixture.uris())) {
            Lease lease = fixture.take(locks, fixture.name("used"), fixture.ttl());
            if (fixture.declares(LockCapability.EXTENSION)) {
              TckFixture.regardless(() -> lease.extend(fixture.ttl()));
            }
            TckFixture.regardless(lease::release);
          }
        });
    Faults.end(TckFault.NO_SCRIPTS, fixture.nodes(), "");

    Counts.awaitNoMoreConnections(fixture, before);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that a request that was refused is not one that closing waits for")
  void aManagerThatRefusedRequestsIsClosedInTime() {
    LockRequest tooLong = LockRequest.of(fixture.name("long"), Duration.ofSeconds(21));
    for (boolean withGrace : new boolean[] {false, true}) {
      LockManager locks = fixture.open("maxTtl=20s");
      for (Asking asking : Asking.values()) {
        TckFixture.regardless(() -> asking.ask(locks, tooLong));
      }
      long begun = System.nanoTime();
      if (withGrace) {
        locks.close(Duration.ofMillis(1));
      } else {
        locks.close();
      }

      assertThat(Elapsed.since(begun)).as("the time to close").isLessThan(TO_CLOSE);
    }
  }

  private List<Duration> timesToLive(String name) {
    return fixture.nodes().stream().map(node -> node.timeToLive(name)).toList();
  }

  private void useAndClose() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest request = LockRequest.of(fixture.name("used"), fixture.ttl());
    Lease lease = fixture.take(locks, renewed(request));
    CompletableFuture<?> waiter = locks.tryAcquireAsync(request.waitAtMost(Attempts.LOOK));
    TckFixture.regardless(lease::release);
    fixture.soon().until("a waiter was served, or its time was over", waiter::isDone);
    TckFixture.regardless(() -> locks.inspect(request.name()));
    TckFixture.regardless(() -> locks.forceRelease(request.name()));
    locks.close();
  }

  private LockRequest renewed(LockRequest request) {
    return fixture.declares(LockCapability.KEEP_ALIVE) ? request.keepAliveUpTo(LONG) : request;
  }

  private LockRequest keptAlive(String ending, Duration ttl) {
    return LockRequest.of(fixture.name(ending), ttl).keepAliveUpTo(LONG);
  }

  /** Waits until the closing thread waits for holders, or has ended, which the test judges. */
  private void untilClosing(Call<?> close) {
    fixture.soon().until("a grace had begun", close::isWaitingOrOver);
  }

  private static Call<?> closing(LockManager manager, Duration grace) {
    return Call.begin(
        () -> {
          manager.close(grace);
          return true;
        });
  }
}
