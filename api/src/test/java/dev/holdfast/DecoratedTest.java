package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Managers and leases, such as decorators, without the methods that came later. */
class DecoratedTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(10));

  @Test
  void decoratorWithoutAdoptIsAskedToOverrideIt() {
    LockManager locks = new InMemoryLocks(Set.of(LockCapability.TRANSFER));

    assertThatThrownBy(() -> locks.adopt("text", REQUEST))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(InMemoryLocks.class.getName() + " has no adopt: override it");
    assertThat(locks.adoptAsync("text", REQUEST))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("has no adoptAsync: override it");
  }

  @Test
  void aBackendWithoutTransferNeedsAnother() {
    LockManager locks = new InMemoryLocks(Set.of(LockCapability.EXTENSION));

    assertThatThrownBy(() -> locks.adopt("text", REQUEST))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("adopt needs TRANSFER, which this backend does not have: [EXTENSION]");
    assertThat(locks.adoptAsync("text", REQUEST)).isCompletedExceptionally();
  }

  @Test
  void aLeaseWithoutTransferNamesItsClass() throws Exception {
    Lease lease = new InMemoryLocks().acquire(REQUEST);

    assertThatThrownBy(() -> lease.transfer(Duration.ofSeconds(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(lease.getClass().getName() + " has no transfer: override it");
    assertThat(lease.transferAsync(Duration.ofSeconds(1)))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("has no transferAsync: override it");
  }
}
