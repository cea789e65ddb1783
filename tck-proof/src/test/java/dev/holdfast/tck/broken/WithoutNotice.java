package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;

/** A lease that notifies nobody of its loss. */
final class WithoutNotice extends PassingLease {
  WithoutNotice(Lease right) {
    super(right);
  }

  @Override
  public CompletableFuture<LossReason> onLoss() {
    return new CompletableFuture<>();
  }
}
