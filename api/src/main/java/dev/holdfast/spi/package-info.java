/**
 * Interfaces that a backend implements to be found by {@link
 * dev.holdfast.LockManager#open(String)}.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
