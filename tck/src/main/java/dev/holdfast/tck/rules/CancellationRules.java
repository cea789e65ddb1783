package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * The rules about cancellation: a waiter that is interrupted or cancelled acquires nothing. Other
 * calls ignore an interrupt.
 */
public abstract class CancellationRules {
  /** About as long as an attempt takes, so that all of its steps are hit. */
  private static final long MICROS = 1_500;

  private static final int ROUNDS = 40;

  /** The number of tries, one of which has to end at once. */
  private static final int INTERRUPTS = 8;

  /** The number of futures that are given up, six of them in each way other than a cancel. */
  private static final int CANCELLED = 48;

  /** The pause before an interrupt, after which the thread waits in its call. */
  private static final long INTO_THE_CALL_NANOS = 30_000_000;

  /** Longer than it takes a thread of a healthy machine to wake. */
  private static final Duration AT_ONCE = Duration.ofMillis(120);

  final TckFixture fixture;

  public CancellationRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails(
      "check that an interrupt ends the wait of its thread, at the head of the queue or not, and no"
          + " other wait")
  void anInterruptEndsAWaitAndDisturbsNoOtherWaiter() throws InterruptedException {
    String name = fixture.name("interrupted");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    List<Interrupted> waiters = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Interrupted waiter = new Interrupted(() -> locks.acquire(name, fixture.ttl()));
      waiter.start();
      waiters.add(waiter);
      fixture.soon().until("a thread waited", waiter::isWaiting);
    }

    List<Interrupted> interrupted = List.of(waiters.get(0), waiters.get(3), waiters.get(5));
    for (Interrupted waiter : interrupted) {
      waiter.interrupt();
      fixture.soon().until("an interrupted wait was over", waiter::isOver);
      assertThat(waiter.endedByInterrupt()).as("%s", waiter).isTrue();
    }
    contender.letGo();

    waiters.removeAll(interrupted);
    fixture.soon().untilNoMoreCome(() -> waiters.stream().filter(Interrupted::isOver).count(), 1);
    assertThat(waiters)
        .as("the others")
        .allSatisfy(waiter -> assertThat(waiter.isOver() && waiter.lease().isEmpty()).isFalse());
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check what becomes of an interrupt that comes before the call")
  void aThreadThatIsInterruptedBeforehandGetsNoLock() throws InterruptedException {
    String name = fixture.name("before");
    LockManager locks = fixture.open();
    for (LockRequest request :
        List.of(fixture.request(name), fixture.request(name).waitForever())) {
      Interrupted caller =
          new Interrupted(
              () -> {
                Thread.currentThread().interrupt();
                return locks.tryAcquire(request).orElseThrow();
              });
      caller.start();
      fixture.soon().until("the call was over", caller::isOver);

      assertThat(caller.endedByInterrupt()).as("%s", caller).isTrue();
      Attempts.awaitFree(fixture, name);
    }
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that an interrupt ends a call at once, also while its thread does other work")
  void anInterruptIsNotHeldBack() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open("nodeTimeout=10s");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
    Duration shortest = fixture.timing().soon();
    for (int i = 0; i < INTERRUPTS && shortest.compareTo(AT_ONCE) > 0; i++) {
      Interrupted caller =
          new Interrupted(() -> locks.acquire(fixture.name("hanging"), fixture.ttl()));
      caller.start();
      fixture.soon().until("the call began", caller::hasBegun);
      LockSupport.parkNanos(INTO_THE_CALL_NANOS);
      long begun = System.nanoTime();
      caller.interrupt();
      fixture.soon().until("the call was over", caller::isOver);
      if (caller.endedByInterrupt() && Elapsed.since(begun).compareTo(shortest) < 0) {
        shortest = Elapsed.since(begun);
      }
    }

    assertThat(shortest)
        .as("the shortest time from an interrupt to the end of its call")
        .isLessThan(AT_ONCE);
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that a lock granted to a caller that is gone is released")
  void anInterruptAtAnyTimeLeavesNoLockAndIsNeverSwallowed() throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = fixture.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = fixture.name("moment");
      Optional<Contender> contender =
          seed.nextBoolean() ? Optional.of(Contender.holding(fixture, name)) : Optional.empty();
      Interrupted caller = new Interrupted(() -> locks.acquire(name, fixture.ttl()));
      caller.start();
      seed.pauseUpTo(MICROS);
      caller.interrupt();

      fixture
          .soon()
          .until(
              "the interrupt came through; " + seed,
              () -> caller.endedByInterrupt() || caller.leftInterruptToCaller());
      contender.ifPresent(Contender::letGo);
      caller.lease().ifPresent(lease -> Attempts.release(fixture, lease));
      Attempts.awaitFree(fixture, name);
    }
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that a lock is released, or returned, if an interrupt comes right behind it")
  void anInterruptAtTheGrantLeavesNoLock() throws InterruptedException {
    LockManager locks = fixture.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = fixture.name("grant");
      LockRequest request = fixture.request(name);
      boolean isAcquire = round % 2 == 0;
      Interrupted caller =
          new Interrupted(
              () -> isAcquire ? locks.acquire(request) : locks.tryAcquire(request).orElseThrow());
      LockListener.Registration interrupts = locks.addListener(interrupting(caller));
      caller.start();
      fixture.awaitRegardless("the call ends", caller::isOver);
      interrupts.close();

      caller.lease().ifPresent(lease -> Attempts.release(fixture, lease));
      Attempts.awaitFree(fixture, name);
    }
  }

  private static LockListener interrupting(Interrupted caller) {
    return new LockListener() {
      @Override
      public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
        caller.interrupt();
      }
    };
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that an interrupt does not wait for nodes, and that their late grants go")
  void anInterruptWhileNodesHangEndsTheCallAtOnceAndLeavesNoLock() {
    Needs.of(fixture, TckFault.FROZEN);
    Seed seed = new Seed();
    LockManager locks = fixture.open("nodeTimeout=10s");
    String ending = fixture.name("hanging");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), ending);
    List<Interrupted> callers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      String name = ending + i;
      Interrupted caller = new Interrupted(() -> locks.acquire(name, fixture.ttl()));
      callers.add(caller);
      caller.start();
      seed.pauseUpTo(MICROS);
    }

    long begun = System.nanoTime();
    callers.forEach(Interrupted::interrupt);
    fixture.soon().until("all were over", () -> callers.stream().allMatch(Interrupted::isOver));

    assertThat(Elapsed.since(begun))
        .as("not the timeout of nodes")
        .isLessThan(Duration.ofSeconds(5));
    assertThat(callers).as("%s", seed).allMatch(Interrupted::endedByInterrupt);
    Faults.end(TckFault.FROZEN, fixture.nodes(), ending);
    LockManager others = fixture.open();
    for (int i = 0; i < callers.size(); i++) {
      Attempts.untilGot(fixture, others, ending + i);
    }
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that a future that was given up leaves the line")
  void aFutureThatWasCancelledTakesNothing() throws InterruptedException {
    String name = fixture.name("given-up");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    LockRequest request = fixture.request(name).waitForever();
    CompletableFuture<Optional<Lease>> cancelled = locks.tryAcquireAsync(request);
    CompletableFuture<Optional<Lease>> completed = locks.tryAcquireAsync(request);
    CompletableFuture<Optional<Lease>> timedOut =
        locks.tryAcquireAsync(request).orTimeout(50, TimeUnit.MILLISECONDS);
    fixture.soon().until("a timeout ended a future", timedOut::isDone);
    cancelled.cancel(true);
    completed.complete(Optional.empty());

    contender.letGo();

    Attempts.awaitFreeForGood(fixture, name);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that a lock granted to an abandoned future is released")
  void aFutureThatIsCancelledAtAnyTimeLeavesNoLock() throws InterruptedException {
    cancelAtAnyTime(false);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that an unclaimed lock is released at once, even with holdAtLeast")
  void aFutureThatIsCancelledLeavesNoLockWithAMinimumHold() throws InterruptedException {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    cancelAtAnyTime(true);
  }

  @Test
  @Rule("WAIT-9")
  @IfThisFails("check that late grants of nodes are released if no call waits for them")
  void futuresThatAreCancelledWhileNodesHangLeaveNoLock() {
    Needs.of(fixture, TckFault.FROZEN);
    Seed seed = new Seed();
    LockManager locks = fixture.open("nodeTimeout=10s");
    String ending = fixture.name("hanging");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), ending);
    List<CompletableFuture<?>> futures = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      futures.add(locks.tryAcquireAsync(fixture.request(ending + i).waitForever()));
      seed.pauseUpTo(MICROS);
    }

    futures.forEach(future -> future.cancel(true));

    Faults.end(TckFault.FROZEN, fixture.nodes(), ending);
    LockManager others = fixture.open();
    for (int i = 0; i < futures.size(); i++) {
      Attempts.untilGot(fixture, others, ending + i);
    }
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that an extension on an interrupted thread is sent, and answered")
  void aLeaseIsExtendedOnAnInterruptedThread() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Lease lease = fixture.take(fixture.open(), fixture.name("extended"), fixture.ttl());

    whileInterrupted(
        () -> {
          lease.extend(fixture.ttl().multipliedBy(2));
          return true;
        });

    assertThat(lease.remaining()).isGreaterThan(fixture.ttl());
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that inspect waits for its answer on an interrupted thread")
  void aLockIsSeenOnAnInterruptedThread() {
    Needs.of(fixture, LockCapability.INSPECTION);
    LockManager operator = fixture.open();
    Lease lease = fixture.take(fixture.open(), fixture.name("seen"), fixture.ttl());

    assertThat(whileInterrupted(() -> operator.inspect(lease.name()))).isPresent();
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that forceRelease waits for its answer on an interrupted thread")
  void aLockIsRemovedOnAnInterruptedThread() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    LockManager operator = fixture.open();
    Lease lease = fixture.take(fixture.open(), fixture.name("removed"), fixture.ttl());

    assertThat(whileInterrupted(() -> operator.forceRelease(lease.name()))).isTrue();
    Attempts.untilGot(fixture, fixture.open(), lease.name());
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that ping waits for its answer on an interrupted thread")
  void nodesArePingedOnAnInterruptedThread() {
    LockManager locks = fixture.open();

    assertThat(whileInterrupted(() -> locks.ping(fixture.timing().soon()))).isTrue();
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that adopt waits for its answer on an interrupted thread")
  void aLockIsTransferredAndAdoptedOnAnInterruptedThread() {
    Needs.of(fixture, LockCapability.TRANSFER);
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.request(fixture.name("adopted")));

    String text = whileInterrupted(() -> lease.transfer(fixture.ttl()));
    Lease adopted = whileInterrupted(() -> locks.adopt(text, fixture.request(lease.name())));

    assertThat(adopted.isHeld()).isTrue();
  }

  @Test
  @Rule("RES-4")
  @IfThisFails("check that close() and release() leave the interrupt, which is not theirs to take")
  void aLeaseIsClosedOnAnInterruptedThread() {
    LockManager locks = fixture.open();
    Lease closed = fixture.take(locks, fixture.name("closed"), fixture.ttl());
    Lease released = fixture.take(locks, fixture.name("released"), fixture.ttl());

    whileInterrupted(
        () -> {
          closed.close();
          return true;
        });
    whileInterrupted(released::release);

    Attempts.untilGot(fixture, fixture.open(), closed.name());
    Attempts.untilGot(fixture, fixture.open(), released.name());
  }

  /** Makes a call on a thread that is interrupted before, and must be so afterwards. */
  private <T> T whileInterrupted(Callable<T> call) {
    Call<T> made =
        Call.begin(
                () -> {
                  Thread.currentThread().interrupt();
                  T result = call.call();
                  assertThat(Thread.interrupted()).as("interrupted after the call").isTrue();
                  return result;
                })
            .awaited(fixture);
    assertThat(made.thrown()).isEmpty();
    return made.result().orElseThrow();
  }

  private void cancelAtAnyTime(boolean toBeHeld) throws InterruptedException {
    Seed seed = new Seed();
    LockManager locks = fixture.open();
    List<String> names = new ArrayList<>();
    for (int round = 0; round < CANCELLED; round++) {
      String name = fixture.name("moment");
      Optional<Contender> contender =
          seed.nextBoolean() ? Optional.of(Contender.holding(fixture, name)) : Optional.empty();
      LockRequest request = fixture.request(name).waitForever();
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(toBeHeld ? request.holdAtLeast(fixture.ttl()) : request);
      seed.pauseUpTo(MICROS);

      boolean isCancelled =
          switch (round % 8) {
            case 3 -> future.complete(Optional.empty());
            case 7 -> future.completeExceptionally(new IllegalStateException("given up"));
            default -> future.cancel(true);
          };
      contender.ifPresent(Contender::letGo);
      if (isCancelled) {
        names.add(name);
        Attempts.awaitFree(fixture, name);
      } else {
        future.join().ifPresent(lease -> Attempts.release(fixture, lease));
      }
    }
    fixture
        .soon()
        .until(
            "no caller took them later; " + seed,
            () -> names.stream().allMatch(name -> OnNodes.isFree(fixture.nodes(), name)));
  }
}
