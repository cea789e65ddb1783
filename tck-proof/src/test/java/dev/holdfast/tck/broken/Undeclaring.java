package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Cannot do some things that the right manager can, and says so. */
final class Undeclaring extends PassingManager {
  private final Set<LockCapability> missing;

  Undeclaring(LockManager right, Set<LockCapability> missing) {
    super(right);
    this.missing = missing;
  }

  @Override
  public Set<LockCapability> capabilities() {
    Set<LockCapability> some = EnumSet.copyOf(super.capabilities());
    some.removeAll(missing);
    return some;
  }

  @Override
  LockRequest request(LockRequest asked) {
    if (asked.keepAliveUpTo().isPresent()) {
      require(LockCapability.KEEP_ALIVE);
    }
    if (!asked.holdAtLeast().isZero()) {
      require(LockCapability.HOLD_AT_LEAST);
    }
    return asked;
  }

  @Override
  Lease lease(Lease granted) {
    return new PassingLease(granted) {
      @Override
      public void holdAtLeast(Duration minimum) {
        require(LockCapability.HOLD_AT_LEAST);
        super.holdAtLeast(minimum);
      }

      @Override
      public void extend(Duration ttl) {
        require(LockCapability.EXTENSION);
        super.extend(ttl);
      }

      @Override
      public CompletableFuture<Void> extendAsync(Duration ttl) {
        require(LockCapability.EXTENSION);
        return super.extendAsync(ttl);
      }

      @Override
      public String transfer(Duration within) {
        require(LockCapability.TRANSFER);
        return super.transfer(within);
      }
    };
  }

  @Override
  public Lease adopt(String text, LockRequest request) {
    require(LockCapability.TRANSFER);
    return super.adopt(text, request);
  }

  @Override
  public Optional<LockStatus> inspect(String name) {
    require(LockCapability.INSPECTION);
    return super.inspect(name);
  }

  @Override
  public boolean forceRelease(String name) {
    require(LockCapability.FORCE_RELEASE);
    return super.forceRelease(name);
  }

  private void require(LockCapability needed) {
    if (missing.contains(needed)) {
      throw new LockConfigurationException("there is no " + needed + " here");
    }
  }
}
