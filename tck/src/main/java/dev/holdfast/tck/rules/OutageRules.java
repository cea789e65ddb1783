package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Outages follow one another, and after each of them all is as before. */
public abstract class OutageRules {
  /** More than a state that counts to three needs. */
  private static final int OUTAGES = 5;

  private static final String HASTY = "nodeTimeout=80ms";

  /** Longer than an attempt waits for an answer. */
  private static final Duration SILENCE = Duration.ofMillis(130);

  /** Longer than the retry delay and an attempt that is answered. */
  private static final Duration BETWEEN = Duration.ofMillis(60);

  final TckFixture fixture;

  public OutageRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-3")
  @IfThisFails("check that nodes are used again after each outage, and not after the first alone")
  void nodesVoteAgainAfterEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), "");
      Throwable thrown =
          catchThrowable(() -> locks.tryAcquire(fixture.name("outage"), fixture.ttl()));
      Faults.end(TckFault.FROZEN, fixture.blocking(), "");
      if (!(thrown instanceof LockOutageException)) {
        AnotherRule.isBroken("an outage is reported as " + thrown);
      }

      Attempts.awaitVotes(fixture, locks, fixture.nodes());
    }
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that each attempt is judged by its own answers, and by no earlier refusal")
  void silenceAfterARefusalIsAnOutage() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("refused-before");
    LockManager locks = fixture.open(HASTY);
    fixture.take(fixture.open(), name, fixture.ttl());
    if (locks.tryAcquire(name, fixture.ttl()).isPresent()) {
      AnotherRule.isBroken("two owners have the lock");
    }
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertThat(catchThrowable(() -> locks.tryAcquire(name, fixture.ttl())))
        .as("the end of an attempt that no quorum answers")
        .isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a release reaches nodes that come back, also after earlier outages")
  void aReleaseIsDoneAfterEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    for (int i = 0; i < OUTAGES; i++) {
      Lease lease = OnNodes.take(fixture, locks, fixture.name("released"), fixture.ttl());
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
      TckFixture.regardless(lease::release);
      Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());

      OnNodes.awaitFree(fixture, lease.name());
    }
  }

  @Test
  @Rule("WAIT-5")
  @IfThisFails("check that a waiter goes on after each outage, and makes its next attempt")
  void aWaiterGetsTheLockAfterSeveralOutages() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    Contender contender = Contender.holding(fixture, fixture.name("busy"));
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(contender.name()).waitForever());
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), contender.name());
      fixture.awaitPast(System.nanoTime(), SILENCE);
      Faults.end(TckFault.FROZEN, fixture.blocking(), contender.name());
      fixture.awaitPast(System.nanoTime(), BETWEEN);
    }
    if (waiter.isDone()) {
      AnotherRule.isBroken("a wait without a limit is over before its lock is free");
    }

    contender.letGo();

    Optional<Lease> lease = fixture.soon().get("the waiter gets the lock", waiter);
    assertThat(lease).as("granted when the lock was free").isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that a lease is extended after each outage of its nodes")
  void aLeaseIsExtendedAfterEachOfSeveralOutages() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    Lease lease = OnNodes.take(fixture, locks, fixture.name("extended"), fixture.ttl());
    for (int i = 0; i < OUTAGES; i++) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());
      if (!lease.isHeld()) {
        AnotherRule.isBroken("an outage is a loss");
      }
      Duration more = fixture.ttl().plusMillis(500L * (i + 1));

      fixture
          .soon()
          .until(
              "it is extended after an outage",
              () -> catchThrowable(() -> lease.extend(more)) == null);
    }
  }

  @Test
  @Rule("NODES-2")
  @IfThisFails("check that nodes() shows each outage, and its end")
  void nodesAreShownAsTheyAreInEachOfSeveralOutages() {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open("nodeTimeout=100ms");
    for (int i = 0; i < 3; i++) {
      Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), "");
      awaitDown(locks, true);
      Faults.end(TckFault.DEAD, fixture.blocking(), "");
      awaitDown(locks, false);
    }
  }

  private void awaitDown(LockManager locks, boolean isDown) {
    fixture
        .soon()
        .until(
            isDown ? "a node is shown as down" : "no node is shown as down",
            () -> {
              TckFixture.regardless(() -> locks.tryAcquire(fixture.name("asks"), fixture.ttl()));
              return isDown
                  == locks.nodes().stream().anyMatch(n -> n.state() == LockNode.State.DOWN);
            });
  }
}
