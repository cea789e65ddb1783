package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The rules about capabilities: a declared capability exists, and an undeclared one is refused.
 * Other rules cover how well a capability works.
 */
public abstract class CapabilityRules {
  private static final Duration LONG = Duration.ofHours(1);

  final TckFixture fixture;

  public CapabilityRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether EXTENSION may be declared")
  void extensionWorksIfItIsDeclared() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    Lease lease = fixture.take(fixture.open(), fixture.name("extended"), fixture.ttl());

    assertIsThere(() -> lease.extend(fixture.ttl()));
    assertIsThere(() -> lease.extendAsync(fixture.ttl()).join());
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether KEEP_ALIVE may be declared")
  void keepAliveWorksIfItIsDeclared() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);

    assertIsThere(() -> fixture.open().tryAcquire(requestOf("kept").keepAliveUpTo(LONG)));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FENCING_TOKEN may be declared")
  void fencingTokensExistIfTheyAreDeclared() throws InterruptedException {
    Needs.of(fixture, LockCapability.FENCING_TOKEN);
    LockManager locks = fixture.open();

    assertThat(fixture.take(locks, requestOf("fenced")).fencingToken()).isPresent();
    assertThat(
            fixture
                .soon()
                .get("a lock was acquired", locks.tryAcquireAsync(requestOf("fenced")))
                .orElseThrow()
                .fencingToken())
        .isPresent();
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether HOLD_AT_LEAST may be declared")
  void holdAtLeastWorksIfItIsDeclared() {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);

    assertIsThere(() -> fixture.open().tryAcquire(requestOf("long").holdAtLeast(fixture.ttl())));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether INSPECTION may be declared")
  void inspectionWorksIfItIsDeclared() {
    Needs.of(fixture, LockCapability.INSPECTION);

    assertIsThere(() -> fixture.open().inspect(fixture.name("inspected")));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FORCE_RELEASE may be declared")
  void forceReleaseWorksIfItIsDeclared() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);

    assertIsThere(() -> fixture.open().forceRelease(fixture.name("forced")));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether TRANSFER may be declared")
  void transferWorksIfItIsDeclared() {
    Needs.of(fixture, LockCapability.TRANSFER);
    Lease lease = fixture.take(fixture.open(), requestOf("transferred"));

    assertIsThere(() -> lease.transfer(fixture.ttl()));
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check whether FAULT_TOLERANT may be declared: with one node or two, it may not")
  void thereAreNodesToSpareIfFaultToleranceIsDeclared() {
    Needs.of(fixture, LockCapability.FAULT_TOLERANT);
    Needs.nodes(fixture, 1);

    assertThat(fixture.minority()).as("nodes that may be missing").isNotEmpty();
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check that every manager declares the same, and that callers cannot change it")
  void theDeclarationIsTheSameEveryTime() {
    LockManager locks = fixture.open();

    assertThat(locks.capabilities()).isEqualTo(fixture.capabilities());
    TckFixture.regardless(() -> locks.capabilities().clear());
    assertThat(locks.capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("CAP-1")
  @IfThisFails("check that a declaration does not depend on the state of the nodes")
  void theDeclarationIsTheSameWhileNodesFail() throws InterruptedException {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open();
    List<TckNode> minority = fixture.minority();
    for (List<TckNode> dies : List.of(minority, fixture.nodesBut(minority))) {
      Faults.begin(fixture, TckFault.DEAD, dies, "");
      Attempts.once(locks, fixture.name("during"), fixture.ttl());

      assertThat(Attempts.stays(() -> locks.capabilities().equals(fixture.capabilities())))
          .as("declared the same since %d nodes died", dies.size())
          .isTrue();
    }
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

    assertRefused(requestOf("long").holdAtLeast(fixture.ttl()));
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that Lease.holdAtLeast is refused, and costs no lease")
  void aNewMinimumIsRefusedIfItIsNotDeclared() {
    needsUndeclared(LockCapability.HOLD_AT_LEAST);
    Lease lease = OnNodes.take(fixture, fixture.open(), requestOf("long"));

    assertRefused(() -> lease.holdAtLeast(fixture.ttl()));
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that an extension is refused before any node is asked, and costs no lease")
  void extensionIsRefusedIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.EXTENSION);
    Lease lease = OnNodes.take(fixture, fixture.open(), requestOf("extended"));

    assertRefused(() -> lease.extend(fixture.ttl()));
    assertRefused(() -> lease.extendAsync(fixture.ttl()).join());
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that a transfer is refused before any node is asked, and costs no lease")
  void transferIsRefusedIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.TRANSFER);
    LockManager locks = fixture.open();
    Lease lease = OnNodes.take(fixture, locks, requestOf("transferred"));

    assertRefused(() -> lease.transfer(fixture.ttl()));
    assertRefused(() -> lease.transferAsync(fixture.ttl()).join());
    assertRefused(() -> locks.adopt("holdfast1-AAAA", requestOf("adopted")));
    assertRefused(() -> locks.adoptAsync("holdfast1-AAAA", requestOf("adopted")).join());
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that inspect is refused before any node is asked")
  void inspectionIsRefusedIfItIsNotDeclared() {
    needsUndeclared(LockCapability.INSPECTION);
    LockManager locks = fixture.open();

    assertRefused(() -> locks.inspect(fixture.name("inspected")));
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails("check that forceRelease is refused before any node is asked")
  void forceReleaseIsRefusedIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.FORCE_RELEASE);
    LockManager locks = fixture.open();
    String name = fixture.name("forced");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());

    assertRefused(() -> locks.forceRelease(name));

    assertThat(Attempts.once(locks, name, fixture.ttl())).as("it is still taken").isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("CAP-2")
  @IfThisFails(
      "check that there is no fencing token if the backend does not promise that it increases")
  void thereIsNoFencingTokenIfItIsNotDeclared() throws InterruptedException {
    needsUndeclared(LockCapability.FENCING_TOKEN);

    assertThat(fixture.take(fixture.open(), requestOf("unfenced")).fencingToken()).isEmpty();
  }

  private LockRequest requestOf(String ending) {
    return LockRequest.of(fixture.name(ending), fixture.ttl());
  }

  private void needsUndeclared(LockCapability capability) {
    if (fixture.declares(capability)) {
      abort("a declared capability is not refused");
    }
  }

  /** Asserts that a capability exists. Other rules cover its other failures. */
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
    LockManager locks = fixture.open();
    assertRefused(() -> locks.tryAcquire(request));
    assertRefused(() -> locks.acquire(request));
    assertRefused(() -> locks.tryAcquireAsync(request).join());
    assertThat(fixture.nodes())
        .as("nothing was taken")
        .allSatisfy(node -> assertThat(node.holder(request.name())).isEmpty());
  }

  private void assertRefused(ThrowingCallable call) {
    long before = Counts.settledRequests(fixture);

    Throwable thrown = catchThrowable(call);

    assertThat(cause(thrown)).containsInstanceOf(LockConfigurationException.class);
    assertThat(Counts.requests(fixture) - before).as("requests to nodes").isZero();
  }

  private static Optional<Throwable> cause(@Nullable Throwable thrown) {
    return Optional.ofNullable(thrown instanceof CompletionException ? thrown.getCause() : thrown);
  }
}
