package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Decorators that know nothing of the methods that came later. */
class DecoratedTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(10));

  @Test
  void aDecoratorWithoutAdoptIsToldToOverrideIt() {
    LockManager locks = new Decorator(new InMemoryLocks(), Set.of(LockCapability.TRANSFER));

    assertThatThrownBy(() -> locks.adopt("text", REQUEST))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(Decorator.class.getName() + " has no adopt: override it");
    assertThat(locks.adoptAsync("text", REQUEST))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("has no adoptAsync: override it");
  }

  @Test
  void aBackendWithoutTransferNeedsAnother() {
    LockManager locks = new Decorator(new InMemoryLocks(), Set.of(LockCapability.EXTENSION));

    assertThatThrownBy(() -> locks.adopt("text", REQUEST))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("adopt needs TRANSFER, which this backend does not have: [EXTENSION]");
    assertThat(locks.adoptAsync("text", REQUEST)).isCompletedExceptionally();
  }

  @Test
  void aLeaseWithoutTransferNamesItsClass() {
    Lease lease = new Granted();

    assertThatThrownBy(() -> lease.transfer(Duration.ofSeconds(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(Granted.class.getName() + " has no transfer: override it");
    assertThat(lease.transferAsync(Duration.ofSeconds(1)))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("has no transferAsync: override it");
  }

  /** Passes on what it must implement. */
  private record Decorator(LockManager below, Set<LockCapability> capabilities)
      implements LockManager {
    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      return below.tryAcquire(request);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      return below.acquire(request);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      return below.tryAcquireAsync(request);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      return below.inspect(name);
    }

    @Override
    public boolean forceRelease(String name) {
      return below.forceRelease(name);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
      return below.unwrap(type);
    }

    @Override
    public void close() {
      below.close();
    }

    @Override
    public void close(Duration grace) {
      below.close(grace);
    }
  }

  /** Has what a lease must implement. */
  private static final class Granted implements Lease {
    @Override
    public String name() {
      return "x";
    }

    @Override
    public String token() {
      return "token";
    }

    @Override
    public OptionalLong fencingToken() {
      return OptionalLong.empty();
    }

    @Override
    public Duration remaining() {
      return Duration.ZERO;
    }

    @Override
    public boolean isHeld() {
      return true;
    }

    @Override
    public void requireHeld() {}

    @Override
    public void extend(Duration ttl) {}

    @Override
    public CompletableFuture<Void> extendAsync(Duration ttl) {
      return new CompletableFuture<>();
    }

    @Override
    public boolean release() {
      return true;
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public CompletableFuture<LossReason> onLoss() {
      return new CompletableFuture<>();
    }

    @Override
    public void close() {}
  }
}
