/**
 * The public API: open a {@link dev.holdfast.LockManager}, say what you want with a {@link
 * dev.holdfast.LockRequest}, hold a {@link dev.holdfast.Lease}.
 *
 * <p>No value is null unless it is marked as nullable, and time is always a {@link
 * java.time.Duration}.
 */
@NullMarked
package dev.holdfast;

import org.jspecify.annotations.NullMarked;
