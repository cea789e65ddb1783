package dev.holdfast.reactor.internal;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, if an application has it, which methods block for microseconds. Those that
 * schedule or cancel a timer, or start a callback, take a lock of the JDK's executors, which
 * BlockHound allows to Reactor's own schedulers. The method that makes the token of an attempt
 * reads random bytes of the operating system, which are always there.
 */
public final class ShortLocks implements BlockHoundIntegration {
  /** Makes the integration, for {@link java.util.ServiceLoader}. */
  public ShortLocks() {}

  @Override
  public void applyTo(BlockHound.Builder builder) {
    builder
        .allowBlockingCallsInside("dev.holdfast.core.TimerThread", "schedule")
        .allowBlockingCallsInside("dev.holdfast.core.TimerThread$Timer", "cancel")
        .allowBlockingCallsInside("dev.holdfast.core.CallbackThreads", "run")
        .allowBlockingCallsInside("dev.holdfast.redlock.internal.lock.LockValues", "next");
  }
}
