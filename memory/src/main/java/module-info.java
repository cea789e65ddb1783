/**
 * A backend in one process: for unit tests, and as the reference that other backends are held to.
 */
module dev.holdfast.memory {
  requires transitive dev.holdfast.core;
  requires static org.jspecify;

  exports dev.holdfast.memory;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.memory.MemoryProvider;
}
