package dev.holdfast.spi;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A manager that passes each call on to the manager below it. Decorators extend this class and
 * override what they change, so that they keep what is added to {@link LockManager} later.
 *
 * <p>A decorator of leases overrides all five ways to a lease: {@code tryAcquire}, {@code acquire},
 * {@code tryAcquireAsync}, {@code adopt} and {@code adoptAsync}. The methods that run a task call
 * the first two. As safe for use by many threads as the manager below.
 */
public abstract class DelegatingLockManager implements LockManager {
  private final LockManager below;

  /**
   * Makes a decorator.
   *
   * @param below the manager that gets the calls, closed with this one
   */
  protected DelegatingLockManager(LockManager below) {
    this.below = below;
  }

  /** Returns the manager that gets the calls. */
  protected final LockManager below() {
    return below;
  }

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
  public Lease adopt(String text, LockRequest request) {
    return below.adopt(text, request);
  }

  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    return below.adoptAsync(text, request);
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
  public Set<LockCapability> capabilities() {
    return below.capabilities();
  }

  @Override
  public String backend() {
    return below.backend();
  }

  @Override
  public LockListener.Registration addListener(LockListener listener) {
    return below.addListener(listener);
  }

  @Override
  public List<LockNode> nodes() {
    return below.nodes();
  }

  @Override
  public List<HeldLock> leases() {
    return below.leases();
  }

  @Override
  public void check(LockRequest request) {
    below.check(request);
  }

  @Override
  public boolean ping(Duration timeout) {
    return below.ping(timeout);
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
