/**
 * The core of all backends, for their authors. Write a {@link dev.holdfast.core.LockPrimitive}, and
 * {@link dev.holdfast.core.LockManagerBuilder} makes a {@link dev.holdfast.LockManager} of it, with
 * leases and their state machine, wait queues, keep-alive, loss, asynchronous calls and
 * cancellation.
 *
 * <p>Time, timers and randomness come from outside ({@link dev.holdfast.core.Clock}, {@link
 * dev.holdfast.core.Scheduler}), so that a simulator can drive the code that ships.
 */
@NullMarked
package dev.holdfast.core;

import org.jspecify.annotations.NullMarked;
