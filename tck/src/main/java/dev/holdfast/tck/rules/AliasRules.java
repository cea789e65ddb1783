package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Results belong to one user each: no other user sees what is done to one. */
public abstract class AliasRules {
  private static final String HASTY = "nodeTimeout=150ms";

  final TckFixture fixture;

  public AliasRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that users who complete or cancel what onLoss() gave them do so alone")
  void aCallerCannotCompleteTheLossForOtherCallers() {
    Lease lease = fixture.take(fixture.open(), fixture.name("lost"), fixture.ttl());
    CompletableFuture<LossReason> before = of(lease.onLoss());

    tamper(lease.onLoss(), LossReason.MAX_HOLD);
    CompletableFuture<LossReason> after = of(lease.onLoss());

    assertThat(before).as("onLoss() of a lease that is held").isNotDone();
    assertThat(after).as("onLoss() that is asked for later").isNotDone();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that users who change what onLoss() gave them change no other's reason")
  void aCallerCannotChangeTheReasonOfALossForOtherCallers() {
    Lease lease = fixture.take(fixture.openForShortTtl(), fixture.name("lost"), fixture.briefTtl());
    CompletableFuture<LossReason> before = of(lease.onLoss());
    fixture.awaitOver(lease);
    fixture.awaitRegardless("onLoss() completes", before::isDone);
    if (!before.isDone()) {
      AnotherRule.isBroken("onLoss() does not complete");
    }

    tamper(lease.onLoss(), LossReason.MAX_HOLD);

    assertThat(fixture.soon().get("onLoss() that is asked for later completes", of(lease.onLoss())))
        .isEqualTo(before.join());
    assertThat(catchThrowableOfType(LockLostException.class, lease::requireHeld))
        .satisfiesAnyOf(
            thrown -> assertThat(thrown).isNull(),
            thrown -> assertThat(thrown.reason()).isNotEqualTo(LossReason.MAX_HOLD));
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that each call of releaseAsync() gives a stage of its own")
  void aCallerCannotChangeTheResultOfAReleaseForOtherCallers() {
    Lease lease = fixture.take(fixture.open(), fixture.name("released"), fixture.ttl());
    CompletableFuture<Boolean> first = lease.releaseAsync();
    boolean answer = fixture.soon().get("the release is answered", first);

    tamper(first, !answer);

    assertThat(fixture.soon().get("the next is answered", lease.releaseAsync())).isEqualTo(answer);
    assertThat(lease.release()).isEqualTo(answer);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that releaseAsync() goes on for others when one who asked gives up")
  void aCallerThatCancelsAReleaseCancelsNoOtherCall() {
    Needs.of(fixture, TckFault.FROZEN);
    Lease lease = fixture.take(fixture.open(), fixture.name("released"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
    CompletableFuture<Boolean> mine = lease.releaseAsync();
    CompletableFuture<Boolean> others = lease.releaseAsync();

    giveUp(mine);
    Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());

    fixture.soon().until("the release is answered", others::isDone);
    assertThat(others).isNotCancelled();
    assertThat(failureOf(others)).isNotInstanceOf(Changed.class);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that each call of extendAsync() gives a stage of its own")
  void aCallerThatCancelsAnExtensionCancelsNoOtherCall() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    Lease lease = fixture.take(fixture.open(), fixture.name("extended"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());
    CompletableFuture<Void> mine = lease.extendAsync(fixture.ttl());
    CompletableFuture<Void> others = lease.extendAsync(fixture.ttl());

    giveUp(mine);
    Faults.end(TckFault.FROZEN, fixture.blocking(), lease.name());

    fixture.soon().until("the extension is over", others::isDone);
    assertThat(others).isNotCancelled();
    assertThat(failureOf(others)).isNotInstanceOf(Changed.class);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that callers who extend or release at the same time have a stage each")
  void aCallerCannotChangeTheResultsOfSimultaneousCalls() {
    LockManager locks = fixture.open();
    for (int round = 0; round < 20; round++) {
      Lease lease = fixture.take(locks, fixture.name("shared"), fixture.ttl());
      if (fixture.declares(LockCapability.EXTENSION)) {
        CompletableFuture<Void> mine = lease.extendAsync(fixture.ttl());
        CompletableFuture<Void> others = lease.extendAsync(fixture.ttl());
        giveUp(mine);
        CompletableFuture<Void> later = lease.extendAsync(fixture.ttl());
        assertOwn(others);
        assertOwn(later);
      }
      CompletableFuture<Boolean> mine = lease.releaseAsync();
      CompletableFuture<Boolean> others = lease.releaseAsync();
      giveUp(mine);
      CompletableFuture<Boolean> later = lease.releaseAsync();
      assertOwn(others);
      assertOwn(later);
    }
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that a future which is cancelled or completed ends no other's wait")
  void aCallerThatCancelsAWaitCancelsNoOtherCall() throws InterruptedException {
    String name = fixture.name("waited-for");
    Contender contender = Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    LockRequest request = fixture.request(name).waitForever();
    List<CompletableFuture<Optional<Lease>>> waits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waits.add(locks.tryAcquireAsync(request));
    }

    waits.get(0).cancel(true);
    waits.get(2).complete(Optional.empty());
    waits.get(3).completeExceptionally(new Changed());
    List<CompletableFuture<Optional<Lease>>> others = List.of(waits.get(1), waits.get(4));

    assertThat(Attempts.stays(() -> others.stream().noneMatch(CompletableFuture::isDone)))
        .as("the others still wait: %s", others)
        .isTrue();
    contender.letGo();
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that calls that see the same outage have an exception each")
  void aCallerCannotChangeAnExceptionForOtherCallers() throws InterruptedException {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(HASTY);
    String name = fixture.name("silent");
    Lease held = fixture.take(locks, fixture.name("released"), fixture.ttl());
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    LockRequest request = fixture.request(name).waitAtMost(Duration.ofMillis(300));
    List<Call<?>> calls = new ArrayList<>();
    List<CompletableFuture<?>> stages = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(Call.begin(() -> locks.tryAcquire(request)));
      calls.add(Call.begin(held::release));
      stages.add(locks.tryAcquireAsync(request));
      stages.add(held.releaseAsync());
    }
    calls.forEach(call -> call.awaited(fixture));

    List<Throwable> thrown = new ArrayList<>();
    calls.forEach(call -> call.thrown().ifPresent(thrown::add));
    for (CompletableFuture<?> stage : stages) {
      fixture.soon().until("a call is over", () -> stage.isDone());
      thrown.add(failureOf(stage));
    }
    thrown.removeIf(failure -> !(failure instanceof LockException));
    if (thrown.isEmpty()) {
      AnotherRule.isBroken("silence is no outage");
    }
    Set<Throwable> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
    distinct.addAll(thrown);
    assertThat(distinct).as("exceptions of so many callers").hasSameSizeAs(thrown);
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that exceptions of different calls share no cause that can be changed")
  void aCallerCannotChangeTheCausesOfAnExceptionForOtherCallers() throws InterruptedException {
    Needs.nodes(fixture, 1);
    Needs.nodeOptions(fixture);
    List<TckFault> faults =
        Stream.of(TckFault.FROZEN, TckFault.DEAD)
            .filter(fault -> Faults.areKnown(fixture, fault))
            .toList();
    if (faults.isEmpty()) {
      abort("this environment's nodes neither hang nor die");
    }
    LockManager locks = fixture.open(HASTY);
    for (TckFault fault : faults) {
      Faults.begin(fixture, fault, fixture.blocking(), "");
      Throwable first = outageOf(locks);
      graphOf(first).forEach(failure -> failure.addSuppressed(new Changed()));
      Throwable second = outageOf(locks);
      Faults.end(fault, fixture.blocking(), "");

      assertThat(graphOf(second))
          .as("a later exception and its causes, while nodes are " + fault)
          .noneMatch(Changed.class::isInstance);
    }
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that each call of transferAsync() gives a stage of its own")
  void aCallerThatCancelsATransferCancelsNoOtherCall() {
    Needs.of(fixture, LockCapability.TRANSFER);
    LockManager locks = fixture.open();
    for (int round = 0; round < 5; round++) {
      Lease lease = fixture.take(locks, fixture.name("transferred"), fixture.ttl());
      CompletableFuture<String> mine = lease.transferAsync(fixture.ttl());
      CompletableFuture<String> others = lease.transferAsync(fixture.ttl());

      giveUp(mine);

      assertOwn(others);
      assertOwn(lease.transferAsync(fixture.ttl()));
    }
  }

  private Throwable outageOf(LockManager locks) throws InterruptedException {
    try {
      locks.tryAcquire(fixture.request(fixture.name("silent")));
      return AnotherRule.isBroken("silence is no outage");
    } catch (LockException outage) {
      return outage;
    }
  }

  /** Returns an exception, its causes and all that is suppressed, at any depth. */
  private static Set<Throwable> graphOf(Throwable thrown) {
    Set<Throwable> graph = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> left = new ArrayDeque<>(List.of(thrown));
    while (!left.isEmpty()) {
      Throwable next = left.pop();
      if (graph.add(next)) {
        Optional.ofNullable(next.getCause()).ifPresent(left::push);
        left.addAll(List.of(next.getSuppressed()));
        if (next instanceof LockOutageException outage) {
          left.addAll(outage.failures().values());
        }
      }
    }
    return graph;
  }

  @Test
  @Rule("RES-1")
  @IfThisFails("check that leases() and nodes() return a new list each time, or one that is final")
  void aListOfLeasesOrNodesStaysAsItWasReturned() {
    LockManager locks = fixture.open();
    Lease first = fixture.take(locks, fixture.name("first"), fixture.ttl());
    List<HeldLock> leases = locks.leases();
    List<LockNode> nodes = locks.nodes();
    List<HeldLock> leasesAtFirst = new ArrayList<>(leases);
    List<LockNode> nodesAtFirst = new ArrayList<>(nodes);

    Lease second = fixture.take(locks, fixture.name("second"), fixture.ttl());
    TckFixture.regardless(first::release);
    List<HeldLock> later = locks.leases();
    TckFixture.regardless(locks.leases()::clear);
    TckFixture.regardless(locks.nodes()::clear);

    assertThat(leases).as("a list of leases that was returned before").isEqualTo(leasesAtFirst);
    assertThat(nodes).as("a list of nodes that was returned before").isEqualTo(nodesAtFirst);
    assertThat(later).as("a later list").extracting(HeldLock::name).containsExactly(second.name());
    assertThat(locks.leases()).as("the leases, after a list was cleared").hasSameSizeAs(later);
    assertThat(locks.nodes()).as("the nodes, after a list was cleared").hasSameSizeAs(nodesAtFirst);
  }

  /** A mark that is left on one result, to be looked for on another. */
  private static final class Changed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Returns a dependent stage, as users create stages of their own. */
  private static CompletableFuture<LossReason> of(CompletableFuture<LossReason> lost) {
    return lost.thenApply(reason -> reason);
  }

  /** Does everything that a user can do to a result. */
  private static <T> void tamper(CompletableFuture<T> stage, T value) {
    CompletableFuture<T> future = stage;
    TckFixture.regardless(() -> future.orTimeout(1, TimeUnit.NANOSECONDS));
    TckFixture.regardless(() -> future.completeOnTimeout(value, 1, TimeUnit.NANOSECONDS));
    TckFixture.regardless(() -> future.completeAsync(() -> value, Runnable::run));
    TckFixture.regardless(() -> future.complete(value));
    TckFixture.regardless(() -> future.cancel(true));
    TckFixture.regardless(() -> future.obtrudeValue(value));
  }

  private static void giveUp(CompletableFuture<?> stage) {
    CompletableFuture<?> future = stage;
    future.cancel(true);
    TckFixture.regardless(() -> future.obtrudeException(new Changed()));
  }

  /** Checks that no other caller has cancelled or changed a stage. */
  private void assertOwn(CompletableFuture<?> stage) {
    fixture.awaitRegardless("a stage completes", stage::isDone);
    if (stage.isDone()) {
      assertThat(stage).isNotCancelled();
      assertThat(failureOf(stage)).isNotInstanceOf(Changed.class);
    }
  }

  private static Throwable failureOf(CompletableFuture<?> stage) {
    try {
      stage.join();
      return new CancellationException("none");
    } catch (CompletionException e) {
      return e.getCause() == null ? e : e.getCause();
    } catch (CancellationException e) {
      return e;
    }
  }
}
