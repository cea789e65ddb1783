package dev.holdfast.core;

/** The events of a JVM without a flight recorder. */
final class NoFlight implements Flight {
  @Override
  public boolean isActive() {
    return false;
  }

  @Override
  public Span acquire(String name) {
    return Span.NONE;
  }

  @Override
  public Span hold(String name, long leaseId) {
    return Span.NONE;
  }

  @Override
  public void lost(String name, long leaseId, String reason, long heldNanos) {
    // nothing records it
  }

  @Override
  public void nodeDown(String node, String cause) {
    // nothing records it
  }
}
