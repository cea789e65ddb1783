package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.FullDisk;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From the first connection to the first attempt, in a time that the test moves. */
class OpeningTest {
  private static final Duration TICK = Duration.ofMillis(1);
  private static final LockRequest REQUEST = LockRequest.of("a", Duration.ofSeconds(10));

  private final ManualTime time = new ManualTime();
  private ScriptedNodes nodes = new ScriptedNodes(3);

  @Test
  @Rule("OPEN-4")
  @DisplayName(
      "with a quorum up, a first attempt waits for the other nodes no" + " longer than nodeTimeout")
  void silentMinorityHasNodeTimeout() {
    nodes.silent(2);
    CompletableFuture<Optional<Lease>> lease = openLazily().tryAcquireAsync(REQUEST);
    time.advance(Duration.ofMillis(50).minus(TICK));
    assertThat(nodes.take()).isEmpty();
    time.advance(TICK);

    assertThat(nodes.pending()).extracting(Asked::node).containsExactly(0, 1);
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    assertThat(lease.join()).isPresent();
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("without a quorum the wait ends with connectTimeout, and names each node")
  void withoutAQuorumTheWaitEndsWithConnectTimeout() {
    nodes.silent(1);
    nodes.silent(2);
    CompletableFuture<Optional<Lease>> lease = openLazily().tryAcquireAsync(REQUEST);
    time.advance(Duration.ofSeconds(2).minus(TICK));
    assertThat(nodes.take()).isEmpty();
    time.advance(TICK);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(nodes.disconnects()).containsExactly(1, 2);
    assertThatThrownBy(lease::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(
            "h2:6379: not connected within 2000 ms", "h3:6379: not connected within 2000 ms");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("the time in which a driver loads its classes is no part of connectTimeout")
  void theStartOfADriverIsNoPartOfConnectTimeout() {
    nodes.beforeConnecting(() -> time.advance(Duration.ofSeconds(3)));
    CompletableFuture<Optional<Lease>> lease = openLazily().tryAcquireAsync(REQUEST);
    nodes.answerAll(a -> a.round().reply(a.node(), "OK"));

    assertThat(nodes.disconnects()).isEmpty();
    assertThat(lease.join()).isPresent();
  }

  @Test
  @DisplayName("a connection that was made in time is not ended by the limit of its making")
  void aConnectionOutlivesTheLimitOfItsMaking() {
    openLazily().tryAcquireAsync(REQUEST);
    nodes.answerAll(a -> a.round().reply(a.node(), "OK"));
    time.advance(Duration.ofSeconds(10));

    assertThat(nodes.disconnects()).isEmpty();
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
  }

  @Test
  @Rule("OPEN-4")
  @DisplayName("requests during the opening connect nothing twice")
  void concurrentRequestsConnectOnce() {
    nodes.silent(2);
    LockManager locks = openLazily();
    locks.tryAcquireAsync(REQUEST);
    locks.tryAcquireAsync(LockRequest.of("b", Duration.ofSeconds(10)));

    assertThat(nodes.connects()).containsExactly(0, 1, 2);
  }

  @Test
  @Rule("OPEN-4")
  @DisplayName("a driver that throws as it connects and disconnects leaves no caller waiting")
  void aDriverThatThrowsLeavesNoCallerWaiting() {
    AtomicBoolean exhausted = new AtomicBoolean(true);
    nodes.beforeConnecting(() -> throwOnce(exhausted));
    AtomicBoolean stillExhausted = new AtomicBoolean(true);
    nodes.beforeDisconnecting(() -> throwOnce(stillExhausted));
    CompletableFuture<Optional<Lease>> lease = openLazily().tryAcquireAsync(REQUEST);
    nodes.answerAll(a -> a.round().reply(a.node(), "OK"));

    assertThat(lease).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
    time.advance(Duration.ofSeconds(1));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, Integer.MAX_VALUE})
  @Rule("CLOSE-4")
  @DisplayName("opening that fails for any reason closes the driver")
  void openingThatFailsForAnyReasonClosesTheDriver(int failures) {
    AtomicInteger left = new AtomicInteger(failures);
    Scheduler failing =
        new Scheduler() {
          @Override
          public Task schedule(long delayNanos, Runnable task) {
            throwOnce(new AtomicBoolean(left.getAndDecrement() > 0));
            return time.schedule(delayNanos, task);
          }

          @Override
          public void close() {}
        };
    RedlockOptions options = time.plainOptions().scheduler(failing);

    assertThatThrownBy(() -> Redlock.open(nodes, options)).isInstanceOf(OutOfMemoryError.class);
    assertThat(nodes.isClosed()).isTrue();
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a logger that throws during opening leaves no connection and no thread")
  void loggerThatThrowsDuringOpeningLeavesNothingOpen() {
    Set<Thread> before = timers();
    FullDisk.during(
        Redlock.class,
        () ->
            assertThatThrownBy(() -> Redlock.open(nodes, RedlockOptions.defaults().trustNewNodes()))
                .hasMessage(FullDisk.MESSAGE));

    assertThat(nodes.isClosed()).isTrue();
    assertThat(nodes.connects()).isEmpty();
    await().until(() -> before.containsAll(timers()));
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a random generator that throws during opening leaves nothing open")
  void randomGeneratorThatThrowsDuringOpeningLeavesNothingOpen() {
    Set<Thread> before = timers();
    RedlockOptions options =
        RedlockOptions.defaults()
            .random(
                () -> {
                  throw new IllegalStateException("no entropy");
                });

    assertThatThrownBy(() -> Redlock.open(nodes, options)).hasMessage("no entropy");
    assertThat(nodes.isClosed()).isTrue();
    await().until(() -> before.containsAll(timers()));
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("the failure to close is suppressed in the failure to open")
  void failureToCloseIsSuppressedInTheFailureToOpen() {
    nodes = new ScriptedNodes(0);
    Error exhausted = new OutOfMemoryError("unable to create native thread");
    nodes.failingToClose(exhausted);

    assertThatThrownBy(() -> Redlock.open(nodes, time.plainOptions()))
        .isInstanceOf(LockConfigurationException.class)
        .hasSuppressedException(exhausted);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 32})
  @Rule("ERR-4")
  @DisplayName("a number of nodes that cannot be is refused, and nothing is left open")
  void invalidNumberOfNodesIsRefused(int size) {
    nodes = new ScriptedNodes(size);
    assertThatThrownBy(() -> Redlock.open(nodes, time.plainOptions()))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there are " + size + " nodes");
    assertThat(nodes.isClosed()).isTrue();
    assertThat(nodes.connects()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @DisplayName("sixteen of thirty-one nodes are a quorum")
  void sixteenOfThirtyOneNodesAreAQuorum() {
    nodes = new ScriptedNodes(31);
    CompletableFuture<Optional<Lease>> lease = openLazily().tryAcquireAsync(REQUEST);
    List<Asked> asked = nodes.take();
    assertThat(asked).hasSize(31);
    asked.subList(16, 31).forEach(a -> a.round().reply(a.node(), "OK"));
    assertThat(lease).isNotDone();
    asked.get(0).round().reply(0, "OK");

    assertThat(lease.join()).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("nodes with databases of different numbers are refused, and named")
  void nodesWithDifferentDatabasesAreRefused() {
    nodes = new ScriptedNodes(List.of("h1:6379/2", "h2:6379/2", "h3:6379"));
    assertThatThrownBy(() -> Redlock.open(nodes, time.plainOptions().restartGuard(true)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("2 and 0", "restartGuard=off");
    assertThat(nodes.isClosed()).isTrue();

    nodes = new ScriptedNodes(List.of("h1:6379/2", "h2:6379/2", "h3:6379/2"));
    openLazily(time.plainOptions().restartGuard(true)).tryAcquireAsync(REQUEST);
    assertThat(nodes.take().get(0).command().words()).containsSubsequence("2", "60000 3 ");
  }

  @Test
  @Rule("FAULT-1")
  @DisplayName("three nodes tolerate faults, and two do not")
  void threeNodesTolerateFaults() {
    assertThat(openLazily().capabilities()).contains(LockCapability.FAULT_TOLERANT);
    nodes = new ScriptedNodes(2);
    assertThat(openLazily().capabilities())
        .doesNotContain(LockCapability.FAULT_TOLERANT)
        .contains(LockCapability.EXTENSION, LockCapability.HOLD_AT_LEAST);
  }

  @Test
  @DisplayName("unwrap returns the driver's objects")
  void unwrapReturnsTheDriversObjects() {
    assertThat(openLazily().unwrap(ScriptedNodes.class)).containsSame(nodes);
    assertThat(openLazily().unwrap(String.class)).isEmpty();
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("the timer that a manager started ends with it")
  void theTimerThatAManagerStartedEndsWithIt() {
    Set<Thread> before = timers();
    LockManager locks = Redlock.open(nodes, RedlockOptions.defaults());
    Set<Thread> own = timers();
    own.removeAll(before);
    assertThat(own).isNotEmpty();

    locks.close();
    await().until(() -> own.stream().noneMatch(Thread::isAlive));
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("the timer ends also if the driver throws as it closes")
  void theTimerEndsAlsoIfTheDriverThrowsAsItCloses() {
    Set<Thread> before = timers();
    LockManager locks = Redlock.open(nodes, RedlockOptions.defaults());
    Set<Thread> own = timers();
    own.removeAll(before);
    nodes.failingToClose(new OutOfMemoryError("unable to create native thread"));

    assertThatThrownBy(locks::close).hasMessage("unable to create native thread");
    await().until(() -> own.stream().noneMatch(Thread::isAlive));
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a scheduler that a manager was given is left as it is")
  void aSchedulerThatWasGivenIsLeftAsItIs() {
    List<Integer> ran = new ArrayList<>();
    LockManager locks = openLazily();
    time.schedule(1, () -> ran.add(1));
    locks.close();
    time.advance(TICK);
    assertThat(ran).containsExactly(1);
  }

  /** Fails as a machine does that is out of threads for a short time. */
  private static void throwOnce(AtomicBoolean exhausted) {
    if (exhausted.getAndSet(false)) {
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  private static Set<Thread> timers() {
    Set<Thread> timers = new HashSet<>(Thread.getAllStackTraces().keySet());
    timers.removeIf(thread -> !thread.getName().startsWith("holdfast-redlock-timer"));
    return timers;
  }

  private LockManager openLazily() {
    return openLazily(time.plainOptions());
  }

  private LockManager openLazily(RedlockOptions options) {
    return Redlock.open(nodes, options.connectLazily());
  }
}
