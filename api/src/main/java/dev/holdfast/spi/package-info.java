/**
 * Interfaces that a backend implements to be found by {@link
 * dev.holdfast.LockManager#open(String)}, and that a decorator of managers implements, with the
 * delivery of leases through it.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
