package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Errors of requests that fail. */
public abstract class ErrorRules {
  /** So that silence is noticed soon, but not where there is none, and the connection is kept. */
  private static final String IMPATIENT = "nodeTimeout=800ms";

  /** A short node timeout, for tests in which more nodes may seem silent. */
  private static final String HASTY = "nodeTimeout=100ms";

  final TckFixture fixture;

  public ErrorRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check what acquire throws when another owner holds the lock")
  void aLockThatAnotherOwnerHoldsIsContention() {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open();

    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .isInstanceOf(LockContendedException.class)
        .hasMessageContaining(name)
        .satisfies(
            thrown -> assertThat(((LockContendedException) thrown).votes().refused()).isPositive());
    assertThat(thrownByTryAcquire(locks, fixture.request(name))).isNull();
    assertThat(thrownByFuture(locks, fixture.request(name))).isNull();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check what a waiter throws whose wait is over, if it saw contention last")
  void contentionIsContentionAfterAWait() {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockRequest request = fixture.request(name).waitAtMost(Duration.ofMillis(100));
    LockManager locks = fixture.open();

    assertThat(thrownByAcquire(locks, request)).isInstanceOf(LockContendedException.class);
    assertThat(thrownByTryAcquire(locks, request)).isNull();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that a minority of silent nodes makes no outage of contention")
  void aRefusalByAQuorumIsContentionThoughOtherNodesAreSilent() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(IMPATIENT, "quorumTimeout=3s");

    whileFrozen(
        fixture.minority(),
        name -> {
          OnNodes.occupy(fixture, fixture.nodesBut(fixture.minority()), name);
          assertThat(thrownByAcquire(locks, withoutWaiting(name)))
              .isInstanceOf(LockContendedException.class);
          assertThat(thrownByTryAcquire(locks, fixture.request(name))).isNull();
        });
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that a quorum of answers is counted in grants and refusals together")
  void aQuorumOfAnswersThatDoNotAgreeIsContention() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open(IMPATIENT, "quorumTimeout=3s");
    List<TckNode> answering = fixture.nodesBut(fixture.minority());

    whileFrozen(
        fixture.minority(),
        name -> {
          OnNodes.occupy(fixture, answering.subList(1, answering.size()), name);
          assertThat(thrownByAcquire(locks, withoutWaiting(name)))
              .isInstanceOf(LockContendedException.class);
        });
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that no quorum of answers is an outage, whatever the others answered")
  void silenceIsAnOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("silent");
    LockManager locks = fixture.open(HASTY);
    OnNodes.occupy(fixture, fixture.nodesBut(fixture.blocking()), name);
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertOutage(locks, name);
    assertThat(thrownByAcquire(locks, fixture.request(name).waitAtMost(Duration.ofMillis(50))))
        .as("after a wait")
        .isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that nodes that cannot be reached are an outage")
  void nodesThatAreGoneAreAnOutage() {
    Needs.of(fixture, TckFault.DEAD);
    String name = fixture.name("gone");
    LockManager locks = fixture.open(HASTY);
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that an error of a node is no refusal: no other owner holds the lock there")
  void errorsOfNodesAreAnOutage() {
    Needs.of(fixture, TckFault.REFUSING);
    String name = fixture.name("refusing");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.REFUSING, fixture.blocking(), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that configuration errors are distinguished from outages and contention")
  void aMissingRightIsAMistakeInTheConfiguration() {
    Needs.of(fixture, TckFault.FORBIDDEN);
    String name = fixture.name("forbidden");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.FORBIDDEN, fixture.blocking(), name);

    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(thrownByTryAcquire(locks, fixture.request(name)))
        .isInstanceOf(LockConfigurationException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that of two nodes both must answer, and both must grant")
  void halfOfTwoNodesIsNoQuorum() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 2);
    List<String> two = fixture.uris().subList(0, 2);
    LockManager locks = fixture.openOn(two);
    LockManager hasty = fixture.openOn(two, HASTY);
    String busy = fixture.name("busy");
    OnNodes.occupy(fixture, List.of(fixture.node(0)), busy);
    String silent = fixture.name("silent");

    assertThat(thrownByAcquire(locks, withoutWaiting(busy)))
        .isInstanceOf(LockContendedException.class);
    Faults.begin(fixture, TckFault.FROZEN, fixture.node(0), silent);
    assertOutage(hasty, silent);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that of two nodes both must answer, and that an error is no answer")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherRefuses() {
    Needs.of(fixture, TckFault.REFUSING);
    Needs.nodes(fixture, 2);
    String name = fixture.name("refused");
    LockManager locks = fixture.openOn(fixture.uris().subList(0, 2));
    Faults.begin(fixture, TckFault.REFUSING, fixture.node(0), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that inspect does not take silence for a lock that is free")
  void anInspectionThatNoQuorumAnswersIsAnOutage() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("inspected");
    LockManager locks = fixture.open(HASTY);
    TckFixture.regardless(() -> locks.inspect(name)); // a cached state would answer the next call
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertThat(kindOf(() -> locks.inspect(name))).isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that forceRelease does not take silence for success")
  void aForcedReleaseThatNoQuorumAnswersIsAnOutage() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    Needs.of(fixture, TckFault.FROZEN);
    String name = fixture.name("forced");
    LockManager locks = fixture.open(HASTY);
    Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), name);

    assertThat(kindOf(() -> locks.forceRelease(name))).isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage waits for all nodes, to name each one that is silent")
  void anOutageNamesEveryNodeThatWasSilent() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);
    LockManager hasty = fixture.open(HASTY);

    Retries.anyOf(
        () -> {
          Lease lease = fixture.take(locks, fixture.name("held"), fixture.ttl());
          String name = fixture.name("silent");
          Faults.whileFrozen(
              fixture,
              fixture.blocking(),
              () -> {
                assertNamed(fixture.blocking(), () -> locks.tryAcquire(name, fixture.ttl()));
                assertNamed(fixture.blocking(), lease::release);
              });
        });
    whileFrozen(
        fixture.nodes(),
        name -> assertNamed(fixture.nodes(), () -> hasty.acquire(withoutWaiting(name))));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage names the nodes that cannot be reached")
  void anOutageNamesEveryNodeThatIsGone() {
    Needs.of(fixture, TckFault.DEAD);
    String name = fixture.name("gone");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), name);

    Retries.anyOf(
        () -> assertNamed(fixture.blocking(), () -> locks.tryAcquire(name, fixture.ttl())));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage names the nodes that answered by an error")
  void anOutageNamesEveryNodeThatRefused() {
    Needs.of(fixture, TckFault.REFUSING);
    String name = fixture.name("refusing");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.REFUSING, fixture.blocking(), name);

    assertNamed(fixture.blocking(), () -> locks.tryAcquire(name, fixture.ttl()));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check the error of an extension that no quorum answered")
  void theOutageOfAnExtensionNamesTheNodes() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);

    Retries.anyOf(
        () -> {
          String name = fixture.name("extended");
          Lease lease = fixture.take(locks, name, fixture.ttl());
          Faults.whileFrozen(
              fixture,
              fixture.blocking(),
              () -> assertNamed(fixture.blocking(), () -> lease.extend(fixture.ttl())));
        });
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check the error of an inspection that no quorum answered")
  void theOutageOfAnInspectionNamesTheNodes() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);

    whileFrozen(
        fixture.blocking(), name -> assertNamed(fixture.blocking(), () -> locks.inspect(name)));
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that the exception is made, or copied, on the thread of the call")
  void anOutageHasTheFramesOfItsCallerAndCanBeSerialized() throws IOException {
    Needs.of(fixture, TckFault.DEAD);
    String name = fixture.name("gone");
    LockManager locks = fixture.open(HASTY);
    Lease lease = fixture.take(locks, fixture.name("held"), fixture.ttl());
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), name);

    assertOfItsCaller("extend", () -> lease.extend(fixture.ttl()));
    assertOfItsCaller("release", lease::release);
    assertOfItsCaller("a second release", lease::release);
    assertOfItsCaller("inspect", () -> locks.inspect(name));
    assertOfItsCaller("forceRelease", () -> locks.forceRelease(name));
    Throwable thrown = thrownByTryAcquire(locks, fixture.request(name));
    if (!(thrown instanceof LockOutageException outage)) {
      AnotherRule.isBroken("it is no outage");
      return;
    }
    assertThat(outage.getStackTrace())
        .extracting(StackTraceElement::getClassName)
        .contains(ErrorRules.class.getName());
    assertThat(outage.failures().values()).contains(outage.getCause());
    assertSerializable(outage);
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that every exception is made, or copied, on the thread of the call")
  void contentionHasTheFramesOfItsCallerAndCanBeSerialized() throws IOException {
    String name = fixture.name("busy");
    Contender.holding(fixture, name);
    LockManager locks = fixture.open();
    LockRequest waiting = fixture.request(name).waitAtMost(Duration.ofMillis(30));

    assertOfItsCaller("acquire without a wait", () -> locks.acquire(withoutWaiting(name)));
    assertOfItsCaller("acquire with a wait", () -> locks.acquire(waiting));
    assertOfItsCaller("executeLocked", () -> locks.executeLocked(waiting, lease -> lease.name()));
    CompletableFuture<?> ahead = locks.tryAcquireAsync(fixture.request(name).waitForever());
    assertOfItsCaller("acquire behind another waiter", () -> locks.acquire(waiting));
    ahead.cancel(true);
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that what refuses bad input is thrown by the thread of the call")
  void aRefusalOfBadInputHasTheFramesOfItsCallerAndCanBeSerialized() throws IOException {
    LockManager locks = fixture.open("maxTtl=20s");
    Lease lease = fixture.take(locks, fixture.name("held"), Duration.ofSeconds(10));
    LockRequest tooLong = LockRequest.of(fixture.name("long"), Duration.ofSeconds(21));

    assertOfItsCaller("tryAcquire", () -> locks.tryAcquire(tooLong));
    assertOfItsCaller("acquire", () -> locks.acquire(tooLong));
    assertOfItsCaller("check", () -> locks.check(tooLong));
    assertOfItsCaller("inspect", () -> locks.inspect(""));
    assertOfItsCaller("forceRelease", () -> locks.forceRelease(""));
    assertOfItsCaller("extend", () -> lease.extend(Duration.ofSeconds(21)));
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that each call reports a loss with an exception of its own")
  void aLossHasTheFramesOfItsCallerAndCanBeSerialized() throws IOException {
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, fixture.name("lost"), fixture.briefTtl());
    fixture.awaitOver(lease);

    assertOfItsCaller("requireHeld", lease::requireHeld);
    assertOfItsCaller("extend", () -> lease.extend(fixture.ttl()));
  }

  @Test
  @Rule("ERR-5")
  @IfThisFails("check that whatever the driver throws is caught, and made the cause of ours")
  void exceptionsOfDriversAreNeverThrown() {
    List<TckFault> faults =
        List.of(
            TckFault.CUT,
            TckFault.OTHER_TYPE,
            TckFault.REFUSING,
            TckFault.FORBIDDEN,
            TckFault.FROZEN,
            TckFault.DEAD);
    List<TckFault> known =
        faults.stream().filter(fault -> Faults.areKnown(fixture, fault)).toList();
    if (fixture.nodes().isEmpty() || known.isEmpty()) {
      abort("this environment knows no faults");
    }
    for (TckFault fault : known) {
      LockManager locks = fixture.open(HASTY, "connectTimeout=5s");
      String name = fixture.name("fault");
      Lease held = Attempts.untilGotAgain(fixture, locks, fixture.name("held"));
      Faults.begin(fixture, fault, fixture.blocking(), name);
      assertOurs(fault, () -> locks.tryAcquire(name, fixture.ttl()));
      assertOurs(fault, () -> locks.acquire(withoutWaiting(name)));
      assertOurs(fault, () -> locks.tryAcquireAsync(fixture.request(name)).join());
      assertOurs(fault, () -> locks.inspect(name));
      assertOurs(fault, () -> locks.forceRelease(name));
      assertOurs(fault, () -> held.extend(fixture.ttl()));
      assertOurs(fault, held::release);
      assertOurs(fault, () -> fixture.open(HASTY, "connectTimeout=200ms"));
      Faults.end(fault, fixture.blocking(), name);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that only the one reply that means a grant is counted as one")
  void anErrorIsNoGrant() throws InterruptedException {
    assertNoGrants(TckFault.REFUSING);
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that only the one reply that means a grant is counted as one")
  void aMissingRightIsNoGrant() throws InterruptedException {
    assertNoGrants(TckFault.FORBIDDEN);
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that only the one reply that means a grant is counted as one")
  void aKeyOfAnotherTypeIsNoGrant() throws InterruptedException {
    assertNoGrants(TckFault.OTHER_TYPE);
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that an extension counts the nodes that have extended, and no errors")
  void anErrorIsNoExtension() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FORBIDDEN);
    String name = fixture.name("extended");
    Lease lease = fixture.take(fixture.open(), name, fixture.ttl());
    Duration longer = fixture.ttl().plusSeconds(20);
    Faults.begin(fixture, TckFault.FORBIDDEN, fixture.nodes(), name);

    Throwable thrown = catchThrowable(() -> lease.extend(longer));

    long extended =
        fixture.nodes().stream()
            .filter(node -> node.timeToLive(name).compareTo(fixture.ttl()) > 0)
            .count();
    assertThat(thrown != null || extended >= fixture.quorum())
        .as("extended on %s nodes", extended)
        .isTrue();
  }

  /**
   * Runs checks while nodes are frozen. They run again if a machine that stalls makes sound nodes
   * seem silent as well.
   */
  private void whileFrozen(List<TckNode> nodes, Checks checks) {
    Retries.anyOf(
        () -> {
          String name = fixture.name("frozen");
          Faults.whileFrozen(fixture, nodes, () -> checks.of(name));
        });
  }

  /** Checks of a lock's state. */
  private interface Checks {
    void of(String name) throws Exception;
  }

  private LockRequest withoutWaiting(String name) {
    return fixture.request(name).waitAtMost(Duration.ZERO);
  }

  private void assertOutage(LockManager locks, String name) {
    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .as("acquire")
        .isInstanceOf(LockOutageException.class);
    assertThat(thrownByTryAcquire(locks, fixture.request(name)))
        .as("tryAcquire")
        .isInstanceOf(LockOutageException.class);
    assertThat(thrownByFuture(locks, fixture.request(name)))
        .as("tryAcquireAsync")
        .isInstanceOf(LockOutageException.class);
  }

  /**
   * Returns the exception, or null if there was none. Leaves the test out if it is no {@code
   * LockException}, which another rule covers.
   */
  private static @Nullable Throwable kindOf(ThrowingCallable call) {
    Throwable thrown = unwrapped(catchThrowable(call));
    if (thrown != null && !(thrown instanceof LockException)) {
      AnotherRule.isBroken("no LockException: " + thrown);
    }
    return thrown;
  }

  private static @Nullable Throwable thrownByAcquire(LockManager locks, LockRequest request) {
    return kindOf(() -> notGranted(Optional.of(locks.acquire(request))));
  }

  private static @Nullable Throwable thrownByTryAcquire(LockManager locks, LockRequest request) {
    return kindOf(() -> notGranted(locks.tryAcquire(request)));
  }

  private static @Nullable Throwable thrownByFuture(LockManager locks, LockRequest request) {
    return kindOf(() -> notGranted(locks.tryAcquireAsync(request).join()));
  }

  /** Leaves the test out if the lock was granted, which another rule covers. */
  private static void notGranted(Optional<Lease> lease) {
    if (lease.isPresent()) {
      AnotherRule.isBroken("it was granted");
    }
  }

  /**
   * Asserts that an outage names the silent nodes. Leaves the test out if there is no outage, which
   * another rule covers.
   */
  private static void assertNamed(List<TckNode> silent, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    if (!(thrown instanceof LockOutageException outage)) {
      AnotherRule.isBroken("no outage: " + thrown);
      return;
    }
    List<String> addresses = silent.stream().map(TckNode::address).toList();
    assertThat(outage.failures()).containsOnlyKeys(addresses);
    assertThat(outage.failures().values()).as("causes").doesNotContainNull();
    assertThat(outage).hasMessageContainingAll(addresses.toArray(String[]::new));
  }

  private static void assertOurs(TckFault during, ThrowingCallable call) {
    Throwable thrown = unwrapped(catchThrowable(call));
    assertThat(thrown == null || thrown instanceof LockException)
        .as("a LockException, while nodes are %s: %s", during, thrown)
        .isTrue();
  }

  /**
   * Checks the frames of what is thrown to two callers. That something else is thrown, or nothing,
   * is another rule's.
   */
  static void assertOfItsCaller(String call, ThrowingCallable act) throws IOException {
    StackTraceElement here = new Throwable("here").getStackTrace()[1];
    assertHasFrame(call, catchThrowable(act), here::equals);
    assertHasFrame(
        call + " once more",
        thrownToAnotherCaller(act),
        frame -> frame.getMethodName().equals("thrownToAnotherCaller"));
  }

  private static @Nullable Throwable thrownToAnotherCaller(ThrowingCallable act) {
    return catchThrowable(act);
  }

  private static void assertHasFrame(
      String call, @Nullable Throwable thrown, Predicate<StackTraceElement> caller)
      throws IOException {
    if (thrown instanceof LockException) {
      assertThat(thrown.getStackTrace()).as("the frames of what %s throws", call).anyMatch(caller);
      assertSerializable(thrown);
    }
  }

  private static void assertSerializable(Throwable thrown) throws IOException {
    try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
      out.writeObject(thrown);
    }
  }

  private static @Nullable Throwable unwrapped(@Nullable Throwable thrown) {
    return thrown instanceof CompletionException ? thrown.getCause() : thrown;
  }

  private void assertNoGrants(TckFault fault) throws InterruptedException {
    Needs.of(fixture, fault);
    LockManager locks = fixture.open();
    String name = fixture.name("broken");
    Faults.begin(fixture, fault, fixture.nodes(), name);

    assertThat(Attempts.once(locks, name, fixture.ttl()))
        .as("got though all nodes are %s", fault)
        .isEmpty();
  }
}
