/** The algorithm: attempts, extensions and releases of locks. */
@NullMarked
package dev.holdfast.redlock.internal.lock;

import org.jspecify.annotations.NullMarked;
