package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a backend declares works; each capability is also what many other tests are for. */
@ForEachBackend
class CapabilitiesTest {
  private final Cluster cluster;
  private final LockManager locks;

  CapabilitiesTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private interface Use {
    void run() throws InterruptedException;
  }

  @Test
  @Rule("CAP-1")
  void whatIsDeclaredWorks() throws InterruptedException {
    Map<LockCapability, Use> uses = new EnumMap<>(LockCapability.class);
    uses.put(LockCapability.EXTENSION, () -> held("extended").extend(Cluster.TTL));
    uses.put(LockCapability.KEEP_ALIVE, this::keepAlive);
    uses.put(LockCapability.FENCING_TOKEN, this::fencingTokensIncrease);
    uses.put(LockCapability.OWNER_SAFE_RELEASE, this::releaseSparesOthers);
    uses.put(LockCapability.FAULT_TOLERANT, this::doWithoutAMinority);
    uses.put(LockCapability.HOLD_AT_LEAST, this::holdAtLeast);
    uses.put(LockCapability.FIFO_IN_PROCESS, () -> held("one of a line").release());
    uses.put(LockCapability.INSPECTION, this::inspect);
    uses.put(LockCapability.FORCE_RELEASE, this::forceRelease);
    assertThat(uses.keySet()).as("a use for each capability").containsAll(locks.capabilities());

    for (LockCapability declared : locks.capabilities()) {
      Objects.requireNonNull(uses.get(declared)).run();
    }
  }

  @Test
  @Rule("ACQ-12")
  void aFencingTokenIsThereExactlyWhereItIsDeclared() throws InterruptedException {
    assertThat(held("fenced").fencingToken().isPresent())
        .isEqualTo(locks.capabilities().contains(LockCapability.FENCING_TOKEN));
    if (locks.capabilities().contains(LockCapability.FENCING_TOKEN)) {
      fencingTokensIncrease();
    }
  }

  private void keepAlive() throws InterruptedException {
    Lease lease =
        locks
            .tryAcquire(LockRequest.of("kept", Cluster.TTL).keepAliveUpTo(Duration.ofHours(1)))
            .orElseThrow();
    assertThat(lease.release()).isTrue();
  }

  private void fencingTokensIncrease() throws InterruptedException {
    long last = Long.MIN_VALUE;
    for (int i = 0; i < 10; i++) {
      Lease lease = locks.acquire("tokens", Cluster.TTL);
      assertThat(lease.fencingToken()).isPresent();
      assertThat(lease.fencingToken().getAsLong()).isGreaterThan(last);
      last = lease.fencingToken().getAsLong();
      lease.release();
    }
  }

  private void releaseSparesOthers() throws InterruptedException {
    Lease first = locks.tryAcquire("spared", Duration.ofSeconds(3)).orElseThrow();
    Eventually.soon().until(() -> !first.isHeld());
    Lease second = locks.acquire("spared", Cluster.TTL);
    assertThat(first.release()).isFalse();
    second.extend(Cluster.TTL);
    assertThat(second.release()).isTrue();
  }

  private void doWithoutAMinority() throws InterruptedException {
    cluster.nodes().subList(3, 5).forEach(node -> node.kill());
    assertThat(held("by a quorum").release()).isTrue();
    cluster.nodes().subList(3, 5).forEach(node -> node.restart());
  }

  private void holdAtLeast() throws InterruptedException {
    LockRequest request = LockRequest.of("at least", Cluster.TTL);
    assertThat(locks.tryAcquire(request.holdAtLeast(Cluster.TTL)).orElseThrow().release()).isTrue();
    assertThat(locks.tryAcquire(request)).isEmpty();
  }

  private void inspect() throws InterruptedException {
    try (Lease lease = held("inspected")) {
      lease.requireHeld();
      assertThat(locks.inspect("inspected")).isPresent();
    }
  }

  private void forceRelease() throws InterruptedException {
    held("forced");
    assertThat(locks.forceRelease("forced")).isTrue();
    assertThat(locks.inspect("forced")).isEmpty();
  }

  private Lease held(String name) throws InterruptedException {
    return locks.tryAcquire(name, Cluster.TTL).orElseThrow();
  }
}
