/**
 * The old lock of the SETNX command's page, with a time stamp as value, and the migration away from
 * it.
 */
@NullMarked
package dev.holdfast.legacy;

import org.jspecify.annotations.NullMarked;
