/**
 * The public API: open a {@link dev.holdfast.LockManager}, say what you want with a {@link
 * dev.holdfast.LockRequest}, hold a {@link dev.holdfast.Lease}.
 *
 * <p>Nothing here is null unless it is marked so, and time is always a {@link java.time.Duration}.
 */
@NullMarked
package dev.holdfast;

import org.jspecify.annotations.NullMarked;
