package com.example.shop;

import dev.holdfast.Lease;
import dev.holdfast.Locks;
import org.springframework.stereotype.Component;

/** A component whose interface has locks. */
@Component
class Counter implements Counting {
  @Override
  public String count() {
    return Locks.current().map(Lease::name).orElse("without a lock");
  }
}
