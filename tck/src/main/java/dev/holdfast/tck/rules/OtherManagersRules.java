package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The end of one manager takes nothing from the others. */
public abstract class OtherManagersRules {
  /** More than there are managers of other tests: the second time ends nothing of theirs either. */
  private static final int TIMES_CLOSED = 100;

  final TckFixture fixture;

  public OtherManagersRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that managers share no connection that one of them closes")
  void whenOneManagerIsClosedTheOthersGoOn() throws InterruptedException {
    LockManager closing = fixture.open();
    LockManager open = fixture.open();
    Lease lease = fixture.take(open, fixture.name("held"), fixture.ttl());
    Lease another = fixture.take(open, fixture.name("held"), fixture.ttl());
    fixture.take(closing, fixture.name("closing"), fixture.ttl());

    for (int i = 0; i < TIMES_CLOSED; i++) {
      closing.close();
    }

    assertThat(lease.isHeld()).as("a lease of a manager that is open").isTrue();
    Throwable close = catchThrowable(another::close);
    Throwable release = catchThrowable(lease::release);
    List<Boolean> got = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      got.add(fixture.gets(open, fixture.name("next")));
    }
    if (release != null || close != null || got.contains(false)) {
      LockManager control = fixture.open();
      assertThat(fixture.gets(control, fixture.name("control")))
          .as("a manager that was opened later gets a lock")
          .isTrue();
    }
    assertThat(release).as("thrown by the release of another manager's lease").isNull();
    assertThat(close).as("thrown by the end of another manager's lease").isNull();
    assertThat(got).as("locks that are acquired by a manager that is open").doesNotContain(false);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that managers share no timers, or that the last one to close ends them")
  void waitsAndLossesOfAnotherManagerGoOn() {
    LockManager closing = fixture.open();
    LockManager open = fixture.open("retryDelay=20ms");
    fixture.take(closing, fixture.name("closing"), fixture.ttl());
    Contender contender = Contender.holding(fixture, fixture.name("waited-for"));
    CompletableFuture<Optional<Lease>> before =
        open.tryAcquireAsync(fixture.request(contender.name()).waitForever());

    closing.close();

    Lease lost = fixture.take(open, fixture.name("lost"), fixture.briefTtl());
    CompletableFuture<?> loss = lost.onLoss();
    Contender another = Contender.holding(fixture, fixture.name("waited-for"));
    CompletableFuture<Optional<Lease>> after =
        open.tryAcquireAsync(fixture.request(another.name()).waitForever());
    contender.letGo();
    another.letGo();
    fixture.awaitRegardless(
        "all are over", () -> loss.isDone() && before.isDone() && after.isDone());
    if (!loss.isDone() && !before.isDone() && !after.isDone()) {
      LockManager control = fixture.open();
      CompletableFuture<?> ofControl =
          fixture.take(control, fixture.name("control"), fixture.briefTtl()).onLoss();
      fixture.awaitRegardless("a loss is reported", ofControl::isDone);
      if (!ofControl.isDone()) {
        AnotherRule.isBroken("no loss is reported at all");
      }
    }

    assertThat(loss).as("the loss of another manager's lease").isDone();
    assertThat(before).as("a wait that began before the end of the other manager").isDone();
    assertThat(after).as("a wait that began after it").isDone();
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that closing a manager that never connected ends no part that others share")
  void whenManagersThatNeverConnectedAreClosedTheOthersGoOn() throws InterruptedException {
    Needs.nodeOptions(fixture);
    LockManager open = fixture.open();
    fixture.take(open, fixture.name("before"), fixture.ttl());

    for (int i = 0; i < 3; i++) {
      fixture.open("connect=lazy").close();
    }

    List<Boolean> got = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      got.add(fixture.gets(open, fixture.name("next")));
    }
    assertThat(got).as("locks that are acquired by a manager that is open").doesNotContain(false);
  }
}
