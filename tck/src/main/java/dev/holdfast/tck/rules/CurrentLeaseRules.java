package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.tck.Rule;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Work under a lease that is held already, and the lease under which a thread works. */
public abstract class CurrentLeaseRules {
  final TckFixture fixture;

  public CurrentLeaseRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-19")
  @IfThisFails("check that a lease can be used after executeHolding")
  void executeHoldingReturnsTheResultAndDoesNotRelease() throws InterruptedException {
    Lease lease = fixture.take(fixture.open(), fixture.name("held"), fixture.ttl());

    String result = Locks.executeHolding(lease, held -> held == lease ? "done" : "another");

    assertThat(result).isEqualTo("done");
    assertThat(lease.isHeld()).as("it is held after the task").isTrue();
  }

  @Test
  @Rule("ACQ-19")
  @IfThisFails("check that onLoss() completes and requireHeld() throws when a lease is lost")
  void executeHoldingInterruptsTheTaskOfALostLeaseAndSaysSo() {
    LockManager locks = fixture.open();

    Retries.anyOf(
        fixture.briefTtl(),
        ttl -> {
          AtomicBoolean interrupted = new AtomicBoolean();
          Lease lease = fixture.take(locks, fixture.name("held"), ttl);

          LockLostException lost =
              catchThrowableOfType(
                  LockLostException.class,
                  () ->
                      Locks.executeHolding(
                          lease,
                          held -> {
                            try {
                              new CountDownLatch(1)
                                  .await(fixture.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
                              return "over";
                            } catch (InterruptedException e) {
                              interrupted.set(true);
                              throw e;
                            }
                          }));

          assertThat(interrupted).as("the task was interrupted").isTrue();
          assertThat(lost).hasCauseInstanceOf(InterruptedException.class);
          assertThat(Thread.currentThread().isInterrupted()).as("so is its caller").isFalse();
        });
  }

  @Test
  @Rule("ACQ-19")
  @IfThisFails("check that requireHeld() throws for a lease that was released")
  void executeHoldingRunsNothingUnderALeaseThatIsOver() {
    Lease lease = fixture.take(fixture.open(), fixture.name("over"), fixture.ttl());
    TckFixture.regardless(lease::release);
    AtomicBoolean ran = new AtomicBoolean();

    assertThatThrownBy(() -> Locks.runHolding(lease, held -> ran.set(true)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(ran).as("the work was done").isFalse();
  }

  @Test
  @Rule("ACQ-20")
  @IfThisFails("check that executeLocked and its variants give their task the lease that they bind")
  void theLeaseOfATaskIsTheCurrentOne() throws Exception {
    LockManager locks = fixture.open();
    for (AskingWay way : AskingWay.ofTasks()) {
      LockRequest request = fixture.request(fixture.name("current"));

      way.hold(
          locks,
          request,
          held -> {
            assertThat(Locks.current()).as("by %s", way).isEqualTo(held);
            assertThat(Locks.requireCurrent(request.name())).isSameAs(held.orElseThrow());
            assertThat(Locks.requireCurrent(locks, request.name())).isSameAs(held.orElseThrow());
          });

      assertThat(Locks.current()).as("the current lease after the task, by %s", way).isEmpty();
    }
  }

  @Test
  @Rule("ACQ-20")
  @IfThisFails("check that the innermost lease is the current one, and that outer ones are found")
  void leasesOfNestedTasksAreFoundOutward() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest first = fixture.request(fixture.name("first"));
    LockRequest second = fixture.request(fixture.name("second"));

    locks.runLocked(
        first,
        outer -> {
          locks.runLocked(
              second,
              inner -> {
                assertThat(Locks.current()).as("in the inner task").containsSame(inner);
                assertThat(Locks.requireCurrent(first.name())).isSameAs(outer);
                assertThat(Locks.requireCurrent(second.name())).isSameAs(inner);
              });
          assertThat(Locks.current()).as("after the inner task").containsSame(outer);
          assertThatThrownBy(() -> Locks.requireCurrent(second.name()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining(second.name());
        });
  }

  @Test
  @Rule("ACQ-20")
  @IfThisFails("check that unwrap(LockManager.class) differs from manager to manager")
  void theLeaseOfAnotherManagerIsNotFound() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    LockRequest request = fixture.request(fixture.name("managed"));

    locks.runLocked(
        request,
        lease ->
            assertThatThrownBy(() -> Locks.requireCurrent(other, request.name()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(request.name()));
  }

  @Test
  @Rule("ACQ-20")
  @IfThisFails("check that a lease is bound to the thread of its task alone")
  void noOtherThreadHasTheLeaseOfATask() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest request = fixture.request(fixture.name("thread"));
    AtomicReference<Optional<Lease>> seen = new AtomicReference<>();
    List<Throwable> thrown = new CopyOnWriteArrayList<>();

    locks.runLocked(
        request,
        lease -> {
          Runnable looking =
              () -> {
                seen.set(Locks.current());
                thrown.add(catchThrowable(() -> Locks.requireCurrent(request.name())));
                thrown.add(catchThrowable(() -> Locks.requireCurrent(locks, request.name())));
              };
          Thread other = new Thread(looking, "another");
          other.start();
          other.join();
        });

    assertThat(seen).hasValue(Optional.empty());
    assertThat(thrown).hasSize(2).hasOnlyElementsOfType(IllegalStateException.class);
  }

  @Test
  @Rule("ACQ-20")
  @IfThisFails("check that requireCurrent looks whether the lease is held")
  void theCurrentLeaseThatWasLostIsNotHandedOut() {
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.openForShortTtl();
          LockRequest request = LockRequest.of(fixture.name("lost"), fixture.briefTtl());
          AtomicReference<Throwable> thrown = new AtomicReference<>();

          TckFixture.regardless(
              () ->
                  locks.runLocked(
                      request,
                      lease -> {
                        Interrupted.awaitOver(fixture, lease);
                        try {
                          Locks.requireCurrent(request.name());
                        } catch (LockLostException | IllegalStateException e) {
                          thrown.set(e);
                        }
                      }));

          assertThat(thrown.get()).isInstanceOf(LockLostException.class);
        });
  }
}
