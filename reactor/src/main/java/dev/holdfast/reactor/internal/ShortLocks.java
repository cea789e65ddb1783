package dev.holdfast.reactor.internal;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, if an application has it, which methods take a lock of the JDK's executors for
 * microseconds: those that schedule or cancel a timer, or start a callback. BlockHound allows the
 * same to Reactor's own schedulers.
 */
public final class ShortLocks implements BlockHoundIntegration {
  /** For {@link java.util.ServiceLoader}. */
  public ShortLocks() {}

  @Override
  public void applyTo(BlockHound.Builder builder) {
    builder
        .allowBlockingCallsInside("dev.holdfast.core.TimerThread", "schedule")
        .allowBlockingCallsInside("dev.holdfast.core.TimerThread$Timer", "cancel")
        .allowBlockingCallsInside("dev.holdfast.core.CallbackThreads", "run");
  }
}
