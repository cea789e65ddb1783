package dev.holdfast.tck;

class MemoryTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return new MemoryEnvironment();
  }
}
