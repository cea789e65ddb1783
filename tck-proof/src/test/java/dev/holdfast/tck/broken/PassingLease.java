package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.spi.LeaseDecorator;

/** Passes everything on to a right lease. */
class PassingLease implements LeaseDecorator {
  final Lease right;

  PassingLease(Lease right) {
    this.right = right;
  }

  @Override
  public Lease decorated() {
    return right;
  }
}
