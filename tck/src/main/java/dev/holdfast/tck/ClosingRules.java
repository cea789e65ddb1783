package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A manager is closed while it is in use. */
abstract class ClosingRules {
  private static final Duration LONG = Duration.ofHours(1);

  /** How long it may take to close what a manager has, besides a grace. */
  private static final Duration TO_CLOSE = Duration.ofSeconds(3);

  final Trial trial;

  ClosingRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that close() releases nothing: a holder may still be at work")
  void theKeysOfOpenLeasesStay() throws InterruptedException {
    String name = trial.name("open");
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, name, trial.ttl());

    closing.close();

    assertThat(Attempts.staysTaken(trial, lease)).as("others are kept out").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that the end of a grace releases nothing")
  void theKeysOfLeasesThatOutlastAGraceStay() throws InterruptedException {
    String name = trial.name("open");
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, name, trial.ttl());

    closing.close(Duration.ofMillis(50));

    assertThat(Attempts.staysTaken(trial, lease)).as("others are kept out").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that a lease that was closed with its manager releases nothing later")
  void theReleaseOfALeaseThatWasClosedLetsNobodyIn() throws InterruptedException {
    String name = trial.name("open");
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, name, trial.ttl());
    closing.close();

    Trial.regardless(lease::release);
    Trial.regardless(lease::close);

    assertThat(Attempts.staysTaken(trial, lease)).as("others are kept out").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("CLOSE-1")
  @IfThisFails("check that closing ends the renewals, so that what is left expires")
  void whatIsLeftIsRenewedNoMore() {
    trial.needs(LockCapability.KEEP_ALIVE);
    trial.needsNodes(1);
    String name = trial.name("left");
    LockManager closing = trial.openForShortTtl();
    trial.takeOnAll(closing, LockRequest.of(name, trial.shortTtl()).keepAliveUpTo(LONG));

    closing.close();

    trial.requestsWhenAllAreAnswered(); // a renewal may have been under way
    List<Duration> left = timesToLive(name);
    long closed = System.nanoTime();
    trial
        .soon()
        .until(
            "the time for a renewal was over",
            () -> {
              List<Duration> now = timesToLive(name);
              for (int i = 0; i < now.size(); i++) {
                assertThat(now.get(i)).isLessThanOrEqualTo(left.get(i));
              }
              return System.nanoTime() - closed > trial.shortTtl().dividedBy(2).toNanos();
            });
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that closing ends what is held, for its holders, and says why")
  void openLeasesEndForTheirHolders() throws InterruptedException {
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, trial.name("open"), trial.ttl());

    closing.close();

    assertThatThrownBy(lease::requireHeld).isInstanceOf(LockLostException.class);
    trial.soon().until("it is over for its holder", () -> !lease.isHeld());
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @IfThisFails("check that a lease that was closed cannot be extended")
  void aLeaseThatWasClosedIsNotExtended() throws InterruptedException {
    trial.needs(LockCapability.EXTENSION);
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, trial.name("open"), trial.ttl());

    closing.close();

    assertThatThrownBy(() -> lease.extend(trial.ttl())).isInstanceOf(RuntimeException.class);
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that a closed manager says that it is closed, and takes nothing")
  void aClosedManagerGrantsNothing() {
    String name = trial.name("free");
    LockManager closing = trial.open();

    closing.close();

    assertThatThrownBy(() -> closing.tryAcquire(name, trial.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closing.acquire(name, trial.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () ->
                trial
                    .soon()
                    .get(
                        "the future was over",
                        closing.tryAcquireAsync(LockRequest.of(name, trial.ttl()))))
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(trial.isFreeOn(trial.nodes(), name)).isTrue();
    closing.close();
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that closing ends the wait of those in line, who then take nothing")
  void whoeverWaitsIsSentAwayAndTakesNothing() throws InterruptedException {
    String name = trial.name("busy");
    Rival rival = Rival.holding(trial, name);
    LockManager closing = trial.open();
    Call<Lease> thread = Call.begin(() -> closing.acquire(name, trial.ttl()));
    trial.soon().until("a thread waited", thread::isWaiting);
    CompletableFuture<Optional<Lease>> future =
        closing.tryAcquireAsync(LockRequest.of(name, trial.ttl()).waitForever());

    closing.close();

    assertThat(thread.awaited(trial).thrown()).containsInstanceOf(IllegalStateException.class);
    trial.soon().until("the future was over", future::isDone);
    assertThatThrownBy(future::join).hasCauseInstanceOf(IllegalStateException.class);
    rival.letGo();
    Attempts.awaitFreeForGood(trial, name);
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check what becomes of a grant that comes while the manager is closed")
  void attemptsUnderWayAreGrantedAndClosedOrLeaveNothing() {
    Seed seed = new Seed();
    for (int round = 0; round < 10; round++) {
      LockManager closing = trial.open();
      List<String> names = new ArrayList<>();
      List<CompletableFuture<Optional<Lease>>> attempts = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        names.add(trial.name("under-way"));
        attempts.add(closing.tryAcquireAsync(LockRequest.of(names.get(i), trial.ttl())));
      }
      seed.pauseUpTo(2_000);
      closing.close();

      for (int i = 0; i < attempts.size(); i++) {
        CompletableFuture<Optional<Lease>> attempt = attempts.get(i);
        trial.soon().until("an attempt was over; " + seed, attempt::isDone);
        if (attempt.isCompletedExceptionally()) {
          Attempts.awaitFree(trial, names.get(i));
        } else {
          trial
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
    String name = trial.name("free");
    LockManager closing = trial.open();
    trial.take(closing, trial.name("open"), trial.ttl());
    untilClosing(closing(closing, LONG));

    assertThatThrownBy(() -> closing.tryAcquire(name, trial.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThat(trial.isFreeOn(trial.nodes(), name)).isTrue();
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that close(grace) waits for holders, who still hold, and for no longer")
  void aGraceLetsHoldersRelease() throws InterruptedException {
    LockManager closing = trial.open();
    Lease lease = trial.take(closing, trial.name("open"), trial.ttl());
    Call<?> close = closing(closing, LONG);
    untilClosing(close);

    assertThat(Attempts.stays(() -> !close.isOver())).as("it waits: %s", close).isTrue();
    assertThat(lease.isHeld()).isTrue();
    Trial.regardless(lease::release);

    close.awaited(trial);
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that leases are renewed until a grace ends")
  void leasesAreKeptAliveWithinAGrace() {
    trial.needs(LockCapability.KEEP_ALIVE);

    Tries.anyOf(
        () -> {
          LockManager closing = trial.openForShortTtl();
          Lease lease = trial.take(closing, keptAlive("kept"));
          Lease probe = trial.take(trial.openForShortTtl(), keptAlive("probe"));
          long begun = System.nanoTime();
          Call<?> close = closing(closing, LONG);

          trial
              .soon()
              .until(
                  "the ttl was over",
                  () -> System.nanoTime() - begun > trial.shortTtl().multipliedBy(5).toNanos() / 4);

          if (!probe.isHeld()) {
            abort("leases are not kept alive, which is another rule's");
          }
          assertThat(lease.isHeld()).isTrue();
          assertThat(close.isOver()).isFalse();
          Trial.regardless(lease::release);
          close.awaited(trial);
        });
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that a grace has an end")
  void aGraceEnds() throws InterruptedException {
    Duration grace = Duration.ofMillis(200);
    LockManager closing = trial.open();
    trial.take(closing, trial.name("open"), trial.ttl());

    try (Stalls stalls = Stalls.watched()) {
      Duration took = closing(closing, grace).awaited(trial).took();

      assertThat(took).isBetween(grace.minusMillis(1), grace.plus(TO_CLOSE).plus(stalls.worst()));
    }
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that an interrupt ends a grace, and is kept for whoever closes")
  void anInterruptEndsAGraceAndIsKept() throws InterruptedException {
    LockManager closing = trial.open();
    trial.take(closing, trial.name("open"), trial.ttl());
    Call<Boolean> close =
        Call.begin(
            () -> {
              closing.close(LONG);
              return Thread.currentThread().isInterrupted();
            });
    untilClosing(close);

    close.interrupt();

    assertThat(close.awaited(trial).result()).as("the flag, %s", close).hasValue(true);
  }

  @Test
  @Rule("CLOSE-3")
  @IfThisFails("check that close() by another thread ends a grace")
  void anotherThreadsCloseEndsAGrace() throws InterruptedException {
    LockManager closing = trial.open();
    trial.take(closing, trial.name("open"), trial.ttl());
    Call<?> close = closing(closing, LONG);
    untilClosing(close);

    closing.close();

    close.awaited(trial);
  }

  @Test
  @Alone
  @Rule("CLOSE-4")
  @IfThisFails("check that what a manager started for itself ends with it")
  void noThreadIsLeft() {
    int managers = 5;

    // what all in this process share grows at first, but not for ever
    trial
        .soon()
        .until(
            managers + " managers left fewer threads than that",
            () -> {
              Set<Thread> before = Threads.ofThisTest();
              for (int i = 0; i < managers; i++) {
                useAndClose();
              }
              return Attempts.comes(() -> Threads.since(before) < managers);
            });
  }

  @Test
  @Alone
  @Rule("CLOSE-4")
  @IfThisFails("check that all connections are closed, those that were made anew, too")
  void noConnectionIsLeft() throws InterruptedException {
    trial.needsConnections();
    int before = trial.connections();
    if (trial.knows(TckFault.CUT)) {
      LockManager reconnected = trial.open();
      trial.begin(TckFault.CUT, trial.nodes(), "");
      trial.nodes().forEach(node -> Attempts.needsVote(trial, reconnected, node));
      reconnected.close();
    }

    useAndClose();

    trial
        .soon()
        .until("no connection was left", () -> Attempts.stays(() -> trial.connections() <= before));
  }

  private List<Duration> timesToLive(String name) {
    return trial.nodes().stream().map(node -> node.timeToLive(name)).toList();
  }

  private void useAndClose() throws InterruptedException {
    LockManager locks = trial.open();
    LockRequest request = LockRequest.of(trial.name("used"), trial.ttl());
    Lease lease = trial.take(locks, renewed(request));
    CompletableFuture<?> waiter = locks.tryAcquireAsync(request.waitAtMost(Attempts.LOOK));
    Trial.regardless(lease::release);
    trial.soon().until("a waiter was served, or its time was over", waiter::isDone);
    locks.close();
  }

  private LockRequest renewed(LockRequest request) {
    return trial.declares(LockCapability.KEEP_ALIVE) ? request.keepAliveUpTo(LONG) : request;
  }

  private LockRequest keptAlive(String ending) {
    return LockRequest.of(trial.name(ending), trial.shortTtl()).keepAliveUpTo(LONG);
  }

  /** Whoever closes waits for holders by now; or does not, which is for the test to judge. */
  private void untilClosing(Call<?> close) {
    trial.soon().until("a grace had begun", () -> close.isWaiting() || close.isOver());
  }

  private static Call<?> closing(LockManager manager, Duration grace) {
    return Call.begin(
        () -> {
          manager.close(grace);
          return true;
        });
  }
}
