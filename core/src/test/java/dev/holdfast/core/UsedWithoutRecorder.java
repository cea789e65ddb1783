package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;

/** A program that takes a lock in a JVM without a flight recorder. */
final class UsedWithoutRecorder {
  private UsedWithoutRecorder() {}

  public static void main(String[] args) throws Exception {
    if (ModuleLayer.boot().findModule("jdk.jfr").isPresent()) {
      throw new AssertionError("this JVM has a flight recorder");
    }
    ScriptedBackend backend = new ScriptedBackend(Clock.system());
    try (LockManager manager = LockManagerBuilder.over(backend).build();
        Lease lease = manager.acquire("x", Duration.ofSeconds(30))) {
      lease.requireHeld();
    }
    System.out.println("taken and released by " + LockPrimitive.class.getModule());
  }
}
