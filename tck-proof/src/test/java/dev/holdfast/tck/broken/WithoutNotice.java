package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;

/** A lease that does not notify its holder of its loss. */
final class WithoutNotice extends PassingLease {
  WithoutNotice(Lease right) {
    super(right);
  }

  @Override
  public CompletableFuture<LossReason> onLoss() {
    return new CompletableFuture<>();
  }
}
