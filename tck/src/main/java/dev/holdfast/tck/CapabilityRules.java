package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What a manager promises is there, and what it does not promise is refused. How well it works is
 * what other rules are about.
 */
abstract class CapabilityRules {
  private static final Duration LONG = Duration.ofHours(1);

  final Trial trial;

  CapabilityRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether EXTENSION may be declared")
  void extensionIsThereIfItIsDeclared() throws InterruptedException {
    trial.needs(LockCapability.EXTENSION);
    Lease lease = trial.take(trial.open(), trial.name("extended"), trial.ttl());

    assertIsThere(() -> lease.extend(trial.ttl()));
    assertIsThere(() -> lease.extendAsync(trial.ttl()).toCompletableFuture().join());
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether KEEP_ALIVE may be declared")
  void keepAliveIsThereIfItIsDeclared() {
    trial.needs(LockCapability.KEEP_ALIVE);

    assertIsThere(() -> trial.open().tryAcquire(requestOf("kept").keepAliveUpTo(LONG)));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FENCING_TOKEN may be declared")
  void fencingTokensAreThereIfTheyAreDeclared() throws InterruptedException {
    trial.needs(LockCapability.FENCING_TOKEN);
    LockManager locks = trial.open();

    assertThat(trial.take(locks, requestOf("fenced")).fencingToken()).isPresent();
    assertThat(
            trial
                .soon()
                .get("a lock was got", locks.tryAcquireAsync(requestOf("fenced")))
                .orElseThrow()
                .fencingToken())
        .isPresent();
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether HOLD_AT_LEAST may be declared")
  void holdAtLeastIsThereIfItIsDeclared() {
    trial.needs(LockCapability.HOLD_AT_LEAST);

    assertIsThere(() -> trial.open().tryAcquire(requestOf("long").holdAtLeast(trial.ttl())));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether INSPECTION may be declared")
  void inspectionIsThereIfItIsDeclared() {
    trial.needs(LockCapability.INSPECTION);

    assertIsThere(() -> trial.open().inspect(trial.name("inspected")));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FORCE_RELEASE may be declared")
  void forceReleaseIsThereIfItIsDeclared() {
    trial.needs(LockCapability.FORCE_RELEASE);

    assertIsThere(() -> trial.open().forceRelease(trial.name("forced")));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FAULT_TOLERANT may be declared: with one node or two, it may not")
  void thereAreNodesToSpareIfFaultToleranceIsDeclared() {
    trial.needs(LockCapability.FAULT_TOLERANT);
    trial.needsNodes(1);

    assertThat(trial.minority()).as("nodes that may be missing").isNotEmpty();
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check that every manager declares the same, and that nobody can change it")
  void theDeclarationIsTheSameEveryTime() {
    LockManager locks = trial.open();

    assertThat(locks.capabilities()).isEqualTo(trial.capabilities());
    Trial.regardless(() -> locks.capabilities().clear());
    assertThat(locks.capabilities()).isEqualTo(trial.capabilities());
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that keepAliveUpTo is refused before the lock is asked for")
  void keepAliveIsRefusedIfItIsNotDeclared() {
    needsUndeclared(LockCapability.KEEP_ALIVE);

    assertRefused(requestOf("kept").keepAliveUpTo(LONG));
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that holdAtLeast is refused before the lock is asked for")
  void holdAtLeastIsRefusedIfItIsNotDeclared() {
    needsUndeclared(LockCapability.HOLD_AT_LEAST);

    assertRefused(requestOf("long").holdAtLeast(trial.ttl()));
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that an extension is refused before any node is asked, and costs no lease")
  void extensionIsRefusedIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.EXTENSION);
    Lease lease = trial.takeOnAll(trial.open(), requestOf("extended"));

    assertRefused(() -> lease.extend(trial.ttl()));
    assertRefused(() -> lease.extendAsync(trial.ttl()).toCompletableFuture().join());
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that inspect is refused before any node is asked")
  void inspectionIsRefusedIfItIsNotDeclared() {
    needsUndeclared(LockCapability.INSPECTION);
    LockManager locks = trial.open();

    assertRefused(() -> locks.inspect(trial.name("inspected")));
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that forceRelease is refused before any node is asked")
  void forceReleaseIsRefusedIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.FORCE_RELEASE);
    LockManager locks = trial.open();
    String name = trial.name("forced");
    Lease lease = trial.takeOnAll(trial.open(), name, trial.ttl());

    assertRefused(() -> locks.forceRelease(name));

    assertThat(Attempts.once(locks, name, trial.ttl())).as("it is still taken").isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that there is no fencing token of which nobody promises that it increases")
  void thereIsNoFencingTokenIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.FENCING_TOKEN);

    assertThat(trial.take(trial.open(), requestOf("unfenced")).fencingToken()).isEmpty();
  }

  private LockRequest requestOf(String ending) {
    return LockRequest.of(trial.name(ending), trial.ttl());
  }

  private void needsUndeclared(LockCapability capability) {
    if (trial.declares(capability)) {
      abort("what is declared is not refused");
    }
  }

  /** What else may go wrong with it is another rule's. */
  private static void assertIsThere(ThrowingCallable use) {
    assertThat(cause(catchThrowable(use)))
        .as("refused")
        .satisfiesAnyOf(
            thrown -> assertThat(thrown).isEmpty(),
            thrown ->
                assertThat(thrown.orElseThrow())
                    .isNotInstanceOfAny(
                        LockConfigurationException.class, UnsupportedOperationException.class));
  }

  private void assertRefused(LockRequest request) {
    LockManager locks = trial.open();
    assertRefused(() -> locks.tryAcquire(request));
    assertRefused(() -> locks.acquire(request));
    assertRefused(() -> locks.tryAcquireAsync(request).join());
    assertThat(trial.nodes())
        .as("nothing was taken")
        .allSatisfy(node -> assertThat(node.holder(request.name())).isEmpty());
  }

  private void assertRefused(ThrowingCallable call) {
    long before = trial.requestsWhenAllAreAnswered();

    Throwable thrown = catchThrowable(call);

    assertThat(cause(thrown)).containsInstanceOf(LockConfigurationException.class);
    assertThat(trial.requests() - before).as("requests to nodes").isZero();
  }

  private static Optional<Throwable> cause(@Nullable Throwable thrown) {
    return Optional.ofNullable(thrown instanceof CompletionException ? thrown.getCause() : thrown);
  }
}
