package com.example.shop;

import dev.holdfast.Lease;
import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import java.time.Duration;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** A component with locks. */
@Component
class Shop {
  private final Warehouse warehouse;

  Shop(Warehouse warehouse) {
    this.warehouse = warehouse;
  }

  @Locked(name = "order-#{#id}", ttl = "30s")
  public String ship(long id) {
    warehouse.pack(id);
    return Locks.current().map(Lease::name).orElse("without a lock");
  }

  @Locked(name = "report", ttl = "30s", keepAliveUpTo = "1h")
  public Optional<Duration> report() {
    warehouse.count();
    return Locks.current().map(Lease::remaining);
  }
}
