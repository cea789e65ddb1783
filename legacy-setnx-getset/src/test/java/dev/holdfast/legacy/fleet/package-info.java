/** A fleet of real processes that moves from the old lock to the new one. */
@NullMarked
package dev.holdfast.legacy.fleet;

import org.jspecify.annotations.NullMarked;
