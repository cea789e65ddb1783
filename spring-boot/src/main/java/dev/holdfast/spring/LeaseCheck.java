package dev.holdfast.spring;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.reactive.TransactionSynchronization;
import reactor.core.publisher.Mono;

/**
 * The check of a lease before the commit of a reactive transaction, after all work before the
 * commit that was registered earlier.
 */
final class LeaseCheck implements TransactionSynchronization, Ordered {
  private final Supplier<@Nullable HeldLease> held;

  /**
   * Describes a check.
   *
   * @param held returns the lease, or null if there is none to check
   */
  LeaseCheck(Supplier<@Nullable HeldLease> held) {
    this.held = held;
  }

  boolean isOf(HeldLease other) {
    HeldLease checked = held.get();
    return checked != null && checked.lease() == other.lease();
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public Mono<Void> beforeCommit(boolean readOnly) {
    return Mono.fromRunnable(
        () -> {
          HeldLease checked = held.get();
          if (checked != null) {
            TransactionLease.requireHeld(checked.lease());
          }
        });
  }
}
