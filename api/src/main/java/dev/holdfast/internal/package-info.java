/** Helpers that the packages of this module share, not exported. */
@NullMarked
package dev.holdfast.internal;

import org.jspecify.annotations.NullMarked;
