package dev.holdfast.legacy.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Fakes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The view of a fleet: processes that know the old lock, both, and the new lock. */
class MigrationLockManagerTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration BRIEFLY = Duration.ofMillis(20);

  private final LockManager oldOnly = MemoryLocks.builder().open();
  private final LockManager newOnly = MemoryLocks.builder().open();
  private final MemoryStore oldStore = oldOnly.unwrap(MemoryStore.class).orElseThrow();
  private final MemoryStore newStore = newOnly.unwrap(MemoryStore.class).orElseThrow();
  private final LockManager both =
      MigrationLockManager.both(over(oldStore), over(newStore))
          .retryDelay(Duration.ofMillis(10))
          .open();

  private enum Side {
    OLD,
    NEW
  }

  @AfterEach
  void close() {
    List.of(both, oldOnly, newOnly).forEach(LockManager::close);
  }

  @Test
  @DisplayName("a holder of both locks excludes contenders for either")
  void holderOfBothLocksExcludesContendersForEither() throws InterruptedException {
    Lease lease = both.acquire("name", TTL);

    assertThat(oldOnly.tryAcquire("name", TTL)).isEmpty();
    assertThat(newOnly.tryAcquire("name", TTL)).isEmpty();
    assertThat(lease.release()).isTrue();
    assertThat(oldOnly.tryAcquire("name", TTL)).isPresent();
    assertThat(newOnly.tryAcquire("name", TTL)).isPresent();
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource
  @DisplayName("a holder of one lock excludes contenders for both, which then hold none")
  void holderOfOneLockExcludesContendersForBoth(Side held) throws InterruptedException {
    Lease lease = only(held).acquire("name", TTL);

    assertThat(both.tryAcquire("name", TTL)).isEmpty();
    assertThat(store(other(held)).holder("name")).isEmpty();
    lease.close();
    assertThat(both.tryAcquire("name", TTL)).isPresent();
  }

  @Test
  @DisplayName("a waiter for the new lock does not keep the old one")
  void waiterForTheNewLockDoesNotKeepTheOldOne() throws InterruptedException {
    Lease held = newOnly.acquire("name", TTL);
    CompletableFuture<Optional<Lease>> waiting =
        both.tryAcquireAsync(LockRequest.of("name", TTL).waitForever());

    for (int turn = 0; turn < 20; turn++) {
      oldOnly.acquire(LockRequest.of("name", TTL).waitAtMost(Duration.ofSeconds(10))).close();
    }

    assertThat(waiting).isNotDone();
    held.close();
    await().until(waiting::isDone);
    assertThat(waiting.join().orElseThrow().isHeld()).isTrue();
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource
  @DisplayName("a lease that loses one lock is lost, and releases the other")
  void leaseThatLosesOneLockIsLostAndReleasesTheOther(Side taken) throws InterruptedException {
    Lease lease = both.acquire("name", TTL);
    store(taken).remove("name");

    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);

    assertThat(lease.onLoss()).succeedsWithin(TTL).isEqualTo(LossReason.REMOVED);
    assertThat(lease.isHeld()).isFalse();
    await()
        .untilAsserted(
            () -> {
              assertThat(oldStore.holder("name")).isEmpty();
              assertThat(newStore.holder("name")).isEmpty();
            });
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource
  @DisplayName("a lease keeps its remaining time in an outage of one lock")
  void leaseKeepsItsRemainingTimeInAnOutageOfOneLock(Side silent) throws InterruptedException {
    List<String> journal = new ArrayList<>();
    ClockReading end = Clock.system().now().plusNanos(TTL.toNanos());
    ScriptedPrimitive ofOld = new ScriptedPrimitive("old", journal, end);
    ScriptedPrimitive ofNew = new ScriptedPrimitive("new", journal, end);
    LockManager locks = MigrationLockManager.both(over(ofOld), over(ofNew)).open();
    Lease lease = locks.acquire("name", TTL);
    (silent == Side.OLD ? ofOld : ofNew).extend =
        ScriptedPrimitive.failing(new LockOutageException("an outage", Map.of(), true));

    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockOutageException.class);

    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.release()).isTrue();
    locks.close();
    assertThat(journal).endsWith("new close", "old close");
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource
  @Rule("WAIT-15")
  @DisplayName("a wait behind an unanswered attempt ends with an outage")
  void waitBehindAnUnansweredAttemptEndsWithAnOutage(Side silent) {
    ClockReading end = Clock.system().now().plusNanos(TTL.toNanos());
    ScriptedPrimitive ofOld = new ScriptedPrimitive("old", new CopyOnWriteArrayList<>(), end);
    ScriptedPrimitive ofNew = new ScriptedPrimitive("new", new CopyOnWriteArrayList<>(), end);
    ScriptedPrimitive unanswered = silent == Side.OLD ? ofOld : ofNew;
    CompletableFuture<LockPrimitive.Outcome> answer = new CompletableFuture<>();
    unanswered.attempt = () -> answer;
    unanswered.outage = () -> new LockOutageException("no answer so far", Map.of(), false);
    try (LockManager locks = MigrationLockManager.both(over(ofOld), over(ofNew)).open()) {
      CompletableFuture<Optional<Lease>> head = locks.tryAcquireAsync(LockRequest.of("name", TTL));

      assertThatThrownBy(() -> locks.tryAcquire(LockRequest.of("name", TTL).waitAtMost(BRIEFLY)))
          .isInstanceOf(LockOutageException.class)
          .hasMessageStartingWith("no answer so far");

      answer.complete(new LockPrimitive.Refusal(new LockVotes(0, 1, 0)));
      assertThat(head).succeedsWithin(TTL);
    }
  }

  @Test
  @DisplayName("a lease is renewed in the background")
  void aLeaseIsRenewed() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(3);
    Lease lease = both.acquire(LockRequest.of("name", ttl).keepAliveUpTo(TTL));

    await().during(ttl.plusMillis(500)).atMost(TTL).until(lease::isHeld);

    assertThat(lease.release()).isTrue();
  }

  @Test
  @DisplayName("closing ends leases for their holders, and leaves both locks to expire")
  void closingLeavesBothLocksToExpire() throws InterruptedException {
    Lease lease = both.acquire("name", TTL);

    both.close();

    assertThat(lease.isHeld()).isFalse();
    assertThat(oldStore.holder("name")).isPresent();
    assertThat(newStore.holder("name")).contains(lease.token());
  }

  @Test
  @DisplayName("requests are held to its own longest ttl, and labelled as its own")
  void itHasSettingsOfItsOwn() throws InterruptedException {
    try (LockManager locks =
        MigrationLockManager.both(over(oldStore), over(newStore))
            .maxTtl(Duration.ofSeconds(5))
            .ownerLabel("the fleet")
            .open()) {
      assertThatThrownBy(() -> locks.tryAcquire("name", Duration.ofSeconds(6)))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("maxTtl");
      assertThat(locks.tryAcquire("name", Duration.ofSeconds(5))).isPresent();
      assertThat(locks.inspect("name").orElseThrow().ownerLabel()).isEqualTo("the fleet");
    }
  }

  @Test
  @DisplayName("a setting that is wrong closes both")
  void aWrongSettingClosesBoth() {
    assertThat(failureThatClosesBoth(options -> options.retryDelay(Duration.ZERO)))
        .isInstanceOf(LockConfigurationException.class);
  }

  @Test
  @DisplayName("an error of the program's own code while it opens closes both")
  void anErrorWhileItOpensClosesBoth() {
    Throwable failure =
        failureThatClosesBoth(
            options -> {
              throw new AssertionError("thrown by the program");
            });

    assertThat(failure).hasMessage("thrown by the program");
  }

  private Throwable failureThatClosesBoth(UnaryOperator<ManagerOptions> change) {
    LockManager from = over(oldStore);
    LockManager to = over(newStore);
    MigrationLockManager.Builder builder =
        MigrationLockManager.both(from, to).managerOptions(change);

    Throwable failure = catchThrowable(builder::open);

    assertIsClosed(from);
    assertIsClosed(to);
    return failure;
  }

  @Test
  @DisplayName("a manager of another kind is refused, by its place, and both are closed")
  void aManagerOfAnotherKindIsRefused() {
    LockManager from = over(oldStore);
    List<String> calls = new ArrayList<>();
    LockManager stranger =
        Fakes.of(
            LockManager.class,
            (proxy, method, arguments) -> {
              calls.add(method.getName());
              return method.getName().equals("unwrap") ? Optional.empty() : null;
            });
    MigrationLockManager.Builder builder = MigrationLockManager.both(from, stranger);

    assertThatThrownBy(builder::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("'to'");

    assertIsClosed(from);
    assertThat(calls).containsExactly("unwrap", "close");
  }

  @Test
  @DisplayName("a chain of two migrations holds three locks")
  void aMigrationCanBePartOfAnother() throws InterruptedException {
    LockManager thirdOnly = MemoryLocks.builder().open();
    MemoryStore third = thirdOnly.unwrap(MemoryStore.class).orElseThrow();
    LockManager two = MigrationLockManager.both(over(oldStore), over(newStore)).open();
    try (LockManager all = MigrationLockManager.both(two, thirdOnly).open()) {
      assertThat(all.capabilities()).contains(LockCapability.EXTENSION);
      Lease lease = all.acquire("name", TTL);
      assertThat(List.of(oldStore, newStore, third)).allMatch(s -> s.holder("name").isPresent());
      lease.extend(TTL);
      assertThat(lease.release()).isTrue();
      assertThat(List.of(oldStore, newStore, third)).allMatch(s -> s.holder("name").isEmpty());
    }
  }

  private static void assertIsClosed(LockManager manager) {
    assertThatThrownBy(() -> manager.tryAcquire("name", TTL))
        .isInstanceOf(IllegalStateException.class);
  }

  private LockManager only(Side side) {
    return side == Side.OLD ? oldOnly : newOnly;
  }

  private MemoryStore store(Side side) {
    return side == Side.OLD ? oldStore : newStore;
  }

  private static Side other(Side side) {
    return side == Side.OLD ? Side.NEW : Side.OLD;
  }

  private static LockManager over(MemoryStore store) {
    return MemoryLocks.builder().store(store).open();
  }

  private static LockManager over(ScriptedPrimitive primitive) {
    return LockManagerBuilder.over(primitive).build();
  }
}
