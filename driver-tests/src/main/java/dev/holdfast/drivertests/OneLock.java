package dev.holdfast.drivertests;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;

/** A program that takes one lock, with nothing but the API: for JVMs of their own. */
final class OneLock {
  private OneLock() {}

  /** Takes a lock of the manager that the first argument names, and says so. */
  public static void main(String[] args) throws Exception {
    try (LockManager locks = LockManager.open(args[0]);
        Lease lease = locks.acquire("on the module path", Duration.ofSeconds(10))) {
      lease.requireHeld();
      System.out.println(
          "held, by "
              + (LockManager.class.getModule().isNamed()
                  ? LockManager.class.getModule()
                  : "no module"));
    }
  }
}
