/** The parts that the old pattern and the migration share, and that users do not see. */
@NullMarked
package dev.holdfast.legacy.internal;

import org.jspecify.annotations.NullMarked;
