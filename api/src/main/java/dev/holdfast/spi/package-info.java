/**
 * Interfaces that a backend implements to be found by {@link
 * dev.holdfast.LockManager#open(String)}, and the delivery of leases through decorators of
 * managers.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
