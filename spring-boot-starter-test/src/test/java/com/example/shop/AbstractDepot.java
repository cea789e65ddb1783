package com.example.shop;

import dev.holdfast.Lease;
import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;

/** A superclass with locks, of a component without any. */
abstract class AbstractDepot {
  @Locked(name = "depot")
  public String take() {
    return Locks.current().map(Lease::name).orElse("without a lock");
  }
}
