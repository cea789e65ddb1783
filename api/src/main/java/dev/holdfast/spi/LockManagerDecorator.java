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
 * A manager around another manager. All that gives no lease is passed on, also methods that a later
 * version adds. The five methods that give one are left to the implementation, which decorates the
 * lease on each way to it: {@code tryAcquire}, {@code acquire}, {@code tryAcquireAsync}, {@code
 * adopt} and {@code adoptAsync}. The other ways, such as {@code executeLocked}, go through these.
 *
 * <p>As safe for use by many threads as the implementation is.
 */
public interface LockManagerDecorator extends LockManager {
  /**
   * Returns the manager that is decorated.
   *
   * @return the same object every time
   */
  LockManager decorated();

  @Override
  Lease adopt(String text, LockRequest request);

  @Override
  CompletableFuture<Lease> adoptAsync(String text, LockRequest request);

  @Override
  default Optional<LockStatus> inspect(String name) {
    return decorated().inspect(name);
  }

  @Override
  default boolean forceRelease(String name) {
    return decorated().forceRelease(name);
  }

  @Override
  default Set<LockCapability> capabilities() {
    return decorated().capabilities();
  }

  @Override
  default String backend() {
    return decorated().backend();
  }

  @Override
  default LockListener.Registration addListener(LockListener listener) {
    return decorated().addListener(listener);
  }

  @Override
  default List<LockNode> nodes() {
    return decorated().nodes();
  }

  @Override
  default List<HeldLock> leases() {
    return decorated().leases();
  }

  @Override
  default void check(LockRequest request) {
    decorated().check(request);
  }

  @Override
  default boolean ping(Duration timeout) {
    return decorated().ping(timeout);
  }

  @Override
  default <T> Optional<T> unwrap(Class<T> type) {
    return decorated().unwrap(type);
  }

  @Override
  default void close() {
    decorated().close();
  }

  @Override
  default void close(Duration grace) {
    decorated().close(grace);
  }
}
