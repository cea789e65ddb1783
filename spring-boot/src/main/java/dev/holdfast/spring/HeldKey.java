package dev.holdfast.spring;

import dev.holdfast.LockManager;

/**
 * The key of a held lock, in a transaction or in the context of a chain.
 *
 * @param manager gave out the lock, without its decorators
 * @param name the name of the lock
 */
record HeldKey(LockManager manager, String name) {
  /** Makes the key of a lock of a manager that may be decorated. */
  static HeldKey of(LockManager manager, String name) {
    return new HeldKey(manager.unwrap(LockManager.class).orElse(manager), name);
  }
}
