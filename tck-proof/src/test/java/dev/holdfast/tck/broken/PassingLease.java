package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Passes everything on to a right lease. */
class PassingLease implements Lease {
  final Lease right;

  PassingLease(Lease right) {
    this.right = right;
  }

  @Override
  public String name() {
    return right.name();
  }

  @Override
  public String token() {
    return right.token();
  }

  @Override
  public OptionalLong fencingToken() {
    return right.fencingToken();
  }

  @Override
  public Duration remaining() {
    return right.remaining();
  }

  @Override
  public boolean isHeld() {
    return right.isHeld();
  }

  @Override
  public void requireHeld() {
    right.requireHeld();
  }

  @Override
  public void extend(Duration ttl) {
    right.extend(ttl);
  }

  @Override
  public CompletableFuture<Void> extendAsync(Duration ttl) {
    return right.extendAsync(ttl);
  }

  @Override
  public void holdAtLeast(Duration minimum) {
    right.holdAtLeast(minimum);
  }

  @Override
  public String transfer(Duration within) {
    return right.transfer(within);
  }

  @Override
  public CompletableFuture<String> transferAsync(Duration within) {
    return right.transferAsync(within);
  }

  @Override
  public boolean release() {
    return right.release();
  }

  @Override
  public CompletableFuture<Boolean> releaseAsync() {
    return right.releaseAsync();
  }

  @Override
  public CompletableFuture<LossReason> onLoss() {
    return right.onLoss();
  }

  @Override
  public void close() {
    right.close();
  }
}
