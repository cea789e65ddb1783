package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.verify;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.spring.test.AutoConfigureLocks;
import dev.holdfast.spring.test.LockTestHandle;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A test of the whole application that does not care about locks. */
@SpringBootTest(properties = "holdfast.enabled=false")
@AutoConfigureLocks(locking = false)
@ActiveProfiles("whole")
class LockingOffTest {
  @Autowired private Shop shop;
  @Autowired private LockTestHandle locks;
  @MockitoBean private Warehouse warehouse;

  @Test
  void aLockedMethodRunsWithoutALock() {
    locks.steal("order-4711");
    locks.cutOff();

    assertThat(shop.ship(4711)).isEqualTo("without a lock");
    verify(warehouse).pack(4711);
  }

  @Test
  void aManagerForCallsWithoutTheAnnotationIsThere(@Autowired LockManager manager)
      throws Exception {
    try (Lease lease = manager.acquire("a", Duration.ofSeconds(30))) {
      assertThat(lease.isHeld()).isTrue();
    }
  }
}
