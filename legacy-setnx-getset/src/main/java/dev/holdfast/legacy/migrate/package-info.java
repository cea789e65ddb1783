/** The migration from any lock to any other: both are held for a while. */
@NullMarked
package dev.holdfast.legacy.migrate;

import org.jspecify.annotations.NullMarked;
