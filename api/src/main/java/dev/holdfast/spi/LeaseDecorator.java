package dev.holdfast.spi;

import dev.holdfast.Lease;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * A lease that passes each method on to another lease, including methods that later versions add.
 * An implementation overrides what it changes: each blocking method together with its asynchronous
 * one, and {@link #close()} together with {@link #release()}, because none of them calls another.
 * Its {@code toString} is its own, and must not show the token.
 *
 * <p>Let only the decorator refer to the decorated lease, which is then renewed only while the
 * application can reach the decorator.
 *
 * <p>As safe for use by many threads as the implementation is.
 */
public interface LeaseDecorator extends Lease {
  /**
   * Returns the lease that is decorated.
   *
   * @return the same object every time
   */
  Lease decorated();

  @Override
  default String name() {
    return decorated().name();
  }

  @Override
  default String token() {
    return decorated().token();
  }

  @Override
  default OptionalLong fencingToken() {
    return decorated().fencingToken();
  }

  @Override
  default Duration remaining() {
    return decorated().remaining();
  }

  @Override
  default boolean isHeld() {
    return decorated().isHeld();
  }

  @Override
  default void requireHeld() {
    decorated().requireHeld();
  }

  @Override
  default void extend(Duration ttl) {
    decorated().extend(ttl);
  }

  @Override
  default CompletableFuture<Void> extendAsync(Duration ttl) {
    return decorated().extendAsync(ttl);
  }

  @Override
  default void holdAtLeast(Duration minimum) {
    decorated().holdAtLeast(minimum);
  }

  @Override
  default String transfer(Duration within) {
    return decorated().transfer(within);
  }

  @Override
  default CompletableFuture<String> transferAsync(Duration within) {
    return decorated().transferAsync(within);
  }

  @Override
  default boolean release() {
    return decorated().release();
  }

  @Override
  default CompletableFuture<Boolean> releaseAsync() {
    return decorated().releaseAsync();
  }

  @Override
  default CompletableFuture<LossReason> onLoss() {
    return decorated().onLoss();
  }

  @Override
  default void close() {
    decorated().close();
  }
}
