package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;

class MemoryTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return new MemoryEnvironment();
  }
}
