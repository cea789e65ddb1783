package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What users are told when they do not get what they asked for. */
abstract class ErrorRules {
  /** So that silence is noticed soon, but not where there is none. */
  private static final String IMPATIENT = "nodeTimeout=200ms";

  /** For tests in which it does no harm if more are silent. */
  private static final String HASTY = "nodeTimeout=100ms";

  final Trial trial;

  ErrorRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check what acquire throws when another owner holds the lock")
  void aLockThatAnotherOwnerHoldsIsContention() {
    String name = trial.name("busy");
    Rival.holding(trial, name);
    LockManager locks = trial.open();

    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .isInstanceOf(LockUnavailableException.class)
        .hasMessageContaining(name)
        .satisfies(
            thrown -> assertThat(((LockUnavailableException) thrown).refused()).isPositive());
    assertThat(thrownByTryAcquire(locks, trial.request(name))).isNull();
    assertThat(thrownByFuture(locks, trial.request(name))).isNull();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check what a waiter throws whose wait is over, if it saw contention last")
  void contentionIsContentionAfterAWait() {
    String name = trial.name("busy");
    Rival.holding(trial, name);
    LockRequest request = trial.request(name).waitAtMost(Duration.ofMillis(100));
    LockManager locks = trial.open();

    assertThat(thrownByAcquire(locks, request)).isInstanceOf(LockUnavailableException.class);
    assertThat(thrownByTryAcquire(locks, request)).isNull();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that a minority of silent nodes makes no outage of contention")
  void whatAQuorumRefusesIsContentionThoughOthersAreSilent() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    LockManager locks = trial.open(IMPATIENT);

    whileFrozen(
        trial.minority(),
        name -> {
          trial.occupy(trial.nodesBut(trial.minority()), name);
          assertThat(thrownByAcquire(locks, withoutWaiting(name)))
              .isInstanceOf(LockUnavailableException.class);
          assertThat(thrownByTryAcquire(locks, trial.request(name))).isNull();
        });
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that a quorum of answers is counted in grants and refusals together")
  void aQuorumOfAnswersThatDoNotAgreeIsContention() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(3);
    LockManager locks = trial.open(IMPATIENT);
    List<TckNode> answering = trial.nodesBut(trial.minority());

    whileFrozen(
        trial.minority(),
        name -> {
          trial.occupy(answering.subList(1, answering.size()), name);
          assertThat(thrownByAcquire(locks, withoutWaiting(name)))
              .isInstanceOf(LockUnavailableException.class);
        });
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that no quorum of answers is an outage, whatever the others answered")
  void silenceIsAnOutage() {
    trial.needs(TckFault.FROZEN);
    String name = trial.name("silent");
    LockManager locks = trial.open(HASTY);
    trial.occupy(trial.nodesBut(trial.blocking()), name);
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    assertOutage(locks, name);
    assertThat(thrownByAcquire(locks, trial.request(name).waitAtMost(Duration.ofMillis(50))))
        .as("after a wait")
        .isInstanceOf(LockBackendException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that nodes that cannot be reached are an outage")
  void nodesThatAreGoneAreAnOutage() {
    trial.needs(TckFault.DEAD);
    String name = trial.name("gone");
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.DEAD, trial.blocking(), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that an error of a node is no refusal: nobody else holds the lock there")
  void errorsOfNodesAreAnOutage() {
    trial.needs(TckFault.REFUSING);
    String name = trial.name("refusing");
    LockManager locks = trial.open();
    trial.begin(TckFault.REFUSING, trial.blocking(), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that what a person must mend is told apart from outages and contention")
  void aMissingRightIsAMistakeInTheConfiguration() {
    trial.needs(TckFault.FORBIDDEN);
    String name = trial.name("forbidden");
    LockManager locks = trial.open();
    trial.begin(TckFault.FORBIDDEN, trial.blocking(), name);

    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(thrownByTryAcquire(locks, trial.request(name)))
        .isInstanceOf(LockConfigurationException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that of two nodes both must answer, and both must grant")
  void halfOfTwoNodesIsNoQuorum() {
    trial.needs(TckFault.FROZEN);
    trial.needsNodes(2);
    List<String> two = trial.uris().subList(0, 2);
    LockManager locks = trial.openOn(two);
    LockManager hasty = trial.openOn(two, HASTY);
    String busy = trial.name("busy");
    trial.occupy(List.of(trial.node(0)), busy);
    String silent = trial.name("silent");

    assertThat(thrownByAcquire(locks, withoutWaiting(busy)))
        .isInstanceOf(LockUnavailableException.class);
    trial.begin(TckFault.FROZEN, trial.node(0), silent);
    assertOutage(hasty, silent);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that of two nodes both must answer, and that an error is no answer")
  void halfOfTwoNodesIsNoQuorumWhileTheOtherRefuses() {
    trial.needs(TckFault.REFUSING);
    trial.needsNodes(2);
    String name = trial.name("refused");
    LockManager locks = trial.openOn(trial.uris().subList(0, 2));
    trial.begin(TckFault.REFUSING, trial.node(0), name);

    assertOutage(locks, name);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that inspect does not take silence for a lock that is free")
  void anInspectionThatNoQuorumAnswersIsAnOutage() {
    trial.needs(LockCapability.INSPECTION);
    trial.needs(TckFault.FROZEN);
    String name = trial.name("inspected");
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    assertThat(kindOf(() -> locks.inspect(name))).isInstanceOf(LockBackendException.class);
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that forceRelease does not take silence for success")
  void aForcedReleaseThatNoQuorumAnswersIsAnOutage() {
    trial.needs(LockCapability.FORCE_RELEASE);
    trial.needs(TckFault.FROZEN);
    String name = trial.name("forced");
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.FROZEN, trial.blocking(), name);

    assertThat(kindOf(() -> locks.forceRelease(name))).isInstanceOf(LockBackendException.class);
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage waits for all nodes, to name each one that is silent")
  void anOutageNamesEveryNodeThatWasSilent() {
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open(IMPATIENT);
    LockManager hasty = trial.open(HASTY);

    Tries.anyOf(
        () -> {
          Lease lease = trial.take(locks, trial.name("held"), trial.ttl());
          String name = trial.name("silent");
          trial.during(
              TckFault.FROZEN,
              trial.blocking(),
              name,
              () -> {
                assertNamed(trial.blocking(), () -> locks.tryAcquire(name, trial.ttl()));
                assertNamed(trial.blocking(), lease::release);
              });
        });
    whileFrozen(
        trial.nodes(),
        name -> assertNamed(trial.nodes(), () -> hasty.acquire(withoutWaiting(name))));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage names the nodes that cannot be reached")
  void anOutageNamesEveryNodeThatIsGone() {
    trial.needs(TckFault.DEAD);
    String name = trial.name("gone");
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.DEAD, trial.blocking(), name);

    assertNamed(trial.blocking(), () -> locks.tryAcquire(name, trial.ttl()));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check that an outage names the nodes that answered by an error")
  void anOutageNamesEveryNodeThatRefused() {
    trial.needs(TckFault.REFUSING);
    String name = trial.name("refusing");
    LockManager locks = trial.open();
    trial.begin(TckFault.REFUSING, trial.blocking(), name);

    assertNamed(trial.blocking(), () -> locks.tryAcquire(name, trial.ttl()));
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check what is said of an extension that no quorum answered")
  void theOutageOfAnExtensionNamesTheNodes() {
    trial.needs(LockCapability.EXTENSION);
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open(IMPATIENT);

    Tries.anyOf(
        () -> {
          String name = trial.name("extended");
          Lease lease = trial.take(locks, name, trial.ttl());
          trial.during(
              TckFault.FROZEN,
              trial.blocking(),
              name,
              () -> assertNamed(trial.blocking(), () -> lease.extend(trial.ttl())));
        });
  }

  @Test
  @Rule("ERR-2")
  @IfThisFails("check what is said of an inspection that no quorum answered")
  void theOutageOfAnInspectionNamesTheNodes() {
    trial.needs(LockCapability.INSPECTION);
    trial.needs(TckFault.FROZEN);
    LockManager locks = trial.open(IMPATIENT);

    whileFrozen(trial.blocking(), name -> assertNamed(trial.blocking(), () -> locks.inspect(name)));
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that the exception is made, or copied, on the thread of the call")
  void anOutageHasTheFramesOfItsCallerAndCanBeSerialized() throws IOException {
    trial.needs(TckFault.DEAD);
    String name = trial.name("gone");
    LockManager locks = trial.open(HASTY);
    trial.begin(TckFault.DEAD, trial.blocking(), name);

    Throwable thrown = thrownByTryAcquire(locks, trial.request(name));
    if (!(thrown instanceof LockBackendException outage)) {
      abort("it is no outage, which is another rule's");
      return;
    }
    assertThat(outage.getStackTrace())
        .extracting(StackTraceElement::getClassName)
        .contains(ErrorRules.class.getName());
    assertThat(outage.failures().values()).contains(outage.getCause());
    try (ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream())) {
      out.writeObject(outage);
    }
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
    List<TckFault> known = faults.stream().filter(trial::knows).toList();
    if (trial.nodes().isEmpty() || known.isEmpty()) {
      abort("this environment knows no faults");
    }
    for (TckFault fault : known) {
      LockManager locks = trial.open(HASTY, "connectTimeout=5s");
      String name = trial.name("fault");
      Lease held = Attempts.untilGotAgain(trial, locks, trial.name("held"));
      trial.begin(fault, trial.blocking(), name);
      assertOurs(fault, () -> locks.tryAcquire(name, trial.ttl()));
      assertOurs(fault, () -> locks.acquire(withoutWaiting(name)));
      assertOurs(fault, () -> locks.tryAcquireAsync(trial.request(name)).join());
      assertOurs(fault, () -> locks.inspect(name));
      assertOurs(fault, () -> locks.forceRelease(name));
      assertOurs(fault, () -> held.extend(trial.ttl()));
      assertOurs(fault, held::release);
      assertOurs(fault, () -> trial.open(HASTY, "connectTimeout=200ms"));
      trial.end(fault, trial.blocking(), name);
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
    trial.needs(LockCapability.EXTENSION);
    trial.needs(TckFault.FORBIDDEN);
    String name = trial.name("extended");
    Lease lease = trial.take(trial.open(), name, trial.ttl());
    Duration longer = trial.ttl().plusSeconds(20);
    trial.begin(TckFault.FORBIDDEN, trial.nodes(), name);

    Throwable thrown = catchThrowable(() -> lease.extend(longer));

    long extended =
        trial.nodes().stream()
            .filter(node -> node.timeToLive(name).compareTo(trial.ttl()) > 0)
            .count();
    assertThat(thrown != null || extended >= trial.quorum())
        .as("extended on %s nodes", extended)
        .isTrue();
  }

  /** Once more on a machine that stalls, so that sound nodes seem silent as well. */
  private void whileFrozen(List<TckNode> nodes, Checks checks) {
    Tries.anyOf(
        () -> {
          String name = trial.name("frozen");
          trial.during(TckFault.FROZEN, nodes, name, () -> checks.of(name));
        });
  }

  /** What is to be seen of a lock. */
  private interface Checks {
    void of(String name) throws Exception;
  }

  private LockRequest withoutWaiting(String name) {
    return trial.request(name).waitAtMost(Duration.ZERO);
  }

  private void assertOutage(LockManager locks, String name) {
    assertThat(thrownByAcquire(locks, withoutWaiting(name)))
        .as("acquire")
        .isInstanceOf(LockBackendException.class);
    assertThat(thrownByTryAcquire(locks, trial.request(name)))
        .as("tryAcquire")
        .isInstanceOf(LockBackendException.class);
    assertThat(thrownByFuture(locks, trial.request(name)))
        .as("tryAcquireAsync")
        .isInstanceOf(LockBackendException.class);
  }

  /** Null if nothing was thrown. That nothing else is thrown is another rule's. */
  private static @Nullable Throwable kindOf(ThrowingCallable call) {
    Throwable thrown = unwrapped(catchThrowable(call));
    if (thrown != null && !(thrown instanceof LockException)) {
      abort("no LockException: " + thrown);
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

  /** That nothing is granted is another rule's. */
  private static void notGranted(Optional<Lease> lease) {
    if (lease.isPresent()) {
      abort("it was granted");
    }
  }

  /** That it is an outage is another rule's. */
  private static void assertNamed(List<TckNode> silent, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    if (!(thrown instanceof LockBackendException outage)) {
      abort("no outage: " + thrown);
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

  private static @Nullable Throwable unwrapped(@Nullable Throwable thrown) {
    return thrown instanceof CompletionException ? thrown.getCause() : thrown;
  }

  private void assertNoGrants(TckFault fault) throws InterruptedException {
    trial.needs(fault);
    LockManager locks = trial.open();
    String name = trial.name("broken");
    trial.begin(fault, trial.nodes(), name);

    assertThat(Attempts.once(locks, name, trial.ttl()))
        .as("got though all nodes are %s", fault)
        .isEmpty();
  }
}
