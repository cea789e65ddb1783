package dev.holdfast.spring;

import dev.holdfast.LockManager;

/**
 * The key of a held lock, in a transaction or in the context of a chain.
 *
 * @param manager gave out the lock, without its decorators
 * @param name the name of the lock
 */
record HeldKey(LockManager manager, String name) {
  HeldKey {
    manager = manager.unwrap(LockManager.class).orElse(manager);
  }
}
