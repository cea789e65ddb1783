package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class LeaseSlotTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @AutoClose private final LockManager locks = LockManager.open("memory:");
  private final LeaseSlot slot = new LeaseSlot("order-1");

  @Test
  void aLeaseThatArrivesAfterTheEndIsReleased() throws Exception {
    Sinks.One<HeldLease> arriving = Sinks.one();
    CompletableFuture<HeldLease> first = slot.lease(arriving.asMono()).toFuture();
    CompletableFuture<HeldLease> second = slot.lease(arriving.asMono()).toFuture();
    slot.end().block(Eventually.LIMIT);
    assertThatThrownBy(second::join).hasRootCauseInstanceOf(IllegalStateException.class);
    Lease lease = locks.acquire("order-1", TTL);
    arriving.tryEmitValue(new HeldLease(locks, lease)).orThrow();

    assertThatThrownBy(first::join).hasMessageContaining("the transaction ended before");
    Eventually.soon().until(() -> !lease.isHeld());
  }

  @Test
  void theNextCallAcquiresAfterACancellation() throws Exception {
    CompletableFuture<HeldLease> first = slot.lease(Mono.never()).toFuture();
    first.cancel(false);
    Lease lease = locks.acquire("order-1", TTL);
    HeldLease next = new HeldLease(locks, lease);

    assertThat(slot.lease(Mono.just(next)).block(Eventually.LIMIT)).isSameAs(next);
    assertThat(slot.held()).isSameAs(next);
    slot.end().block(Eventually.LIMIT);
    assertThat(lease.isHeld()).isFalse();
    assertThat(slot.held()).isNull();
  }

  @Test
  void aLeaseThatTheWorkReleasedIsNotReplaced() throws Exception {
    Lease lease = locks.acquire("order-1", TTL);
    HeldLease first = new HeldLease(locks, lease);
    slot.lease(Mono.just(first)).block(Eventually.LIMIT);
    lease.close();
    assertThat(slot.lease(Mono.never()).block(Eventually.LIMIT)).isSameAs(first);
  }

  @Test
  void noLeaseIsAcquiredAfterTheEnd() {
    slot.end().block(Eventually.LIMIT);
    assertThatThrownBy(() -> slot.lease(Mono.never()).block(Eventually.LIMIT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'order-1'");
  }
}
