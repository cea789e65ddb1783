package dev.holdfast.spring;

import dev.holdfast.LockManager;

/**
 * A decoration of the managers that the auto-configuration opens, before any other bean sees them.
 * Managers that the application defines are not decorated.
 */
@FunctionalInterface
interface ManagerDecorator {
  /**
   * Decorates a manager.
   *
   * @param name the name of the manager's bean
   * @param manager the manager below
   */
  LockManager decorate(String name, LockManager manager);
}
