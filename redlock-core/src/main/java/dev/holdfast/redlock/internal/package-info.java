/** The values that all parts of the algorithm share. */
@NullMarked
package dev.holdfast.redlock.internal;

import org.jspecify.annotations.NullMarked;
