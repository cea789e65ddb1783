package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;

import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spring.test.LockTest;
import dev.holdfast.spring.test.LockTestHandle;
import java.time.Duration;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A test of locks as users write it. The first two leave a theft and an outage to the next. */
@LockTest
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ShopLockTest {
  @Autowired private Shop shop;
  @Autowired private LockTestHandle locks;
  @MockitoBean private Warehouse warehouse;

  @Test
  @Order(1)
  void aLockOfAnotherOwnerIsRefused() {
    locks.steal("order-4711");

    assertThatThrownBy(() -> shop.ship(4711)).isInstanceOf(LockContendedException.class);
    verifyNoInteractions(warehouse);
    assertThat(locks.isHeld("order-4711")).isTrue();
  }

  @Test
  @Order(2)
  void anOutageIsThrown() {
    locks.cutOff();

    assertThatThrownBy(() -> shop.ship(4712)).isInstanceOf(LockOutageException.class);

    locks.reconnect();
    assertThat(shop.ship(4712)).isEqualTo("order-4712");
    locks.cutOff();
  }

  @Test
  void theTestBeforeLeftNeitherATheftNorAnOutage() {
    assertThat(locks.isHeld("order-4711")).isFalse();
    assertThat(shop.ship(4711)).isEqualTo("order-4711");
  }

  @Test
  void theLockIsHeldWhileTheMethodRuns() {
    doAnswer(
            call -> {
              assertThat(locks.isHeld("order-1")).isTrue();
              return null;
            })
        .when(warehouse)
        .pack(1);

    assertThat(shop.ship(1)).isEqualTo("order-1");
    verify(warehouse).pack(1);
    assertThat(locks.isHeld("order-1")).isFalse();
  }

  @Test
  void aLockIsLostWhenItsTimeIsOver() {
    doAnswer(
            call -> {
              locks.advance(Duration.ofSeconds(31));
              return null;
            })
        .when(warehouse)
        .pack(1);

    assertThatThrownBy(() -> shop.ship(1))
        .isInstanceOfSatisfying(
            LockLostException.class,
            loss -> assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED));
  }

  @Test
  void aHolderThatRenewsNoticesTheTheftAtItsNextRenewal() {
    doAnswer(
            call -> {
              locks.steal("report");
              locks.advance(Duration.ofSeconds(10));
              return null;
            })
        .when(warehouse)
        .count();

    assertThatThrownBy(shop::report)
        .isInstanceOfSatisfying(
            LockLostException.class, loss -> assertThat(loss.reason()).isEqualTo(LossReason.TAKEN));
  }

  @Test
  void aHolderThatRenewsNoticesThatItsLockExpired() {
    doAnswer(
            call -> {
              assertThat(locks.expire("report")).isTrue();
              locks.advance(Duration.ofSeconds(10));
              return null;
            })
        .when(warehouse)
        .count();

    assertThatThrownBy(shop::report).isInstanceOf(LockLostException.class);
    assertThat(locks.expire("report")).isFalse();
  }

  @Test
  void aTheftEndsAfterItsTime() {
    locks.steal("order-1", Duration.ofSeconds(5));
    locks.advance(Duration.ofSeconds(6));

    assertThat(shop.ship(1)).isEqualTo("order-1");
  }

  @Test
  void theManagerAndItsClockCanBeInjected(
      @Autowired LockManager manager, @Autowired ManualClock clock) {
    long before = clock.nanos();
    locks.advance(Duration.ofHours(1));

    assertThat(manager.unwrap(MemoryStore.class)).isPresent();
    assertThat(clock.nanos() - before).isGreaterThanOrEqualTo(Duration.ofHours(1).toNanos());
  }
}
