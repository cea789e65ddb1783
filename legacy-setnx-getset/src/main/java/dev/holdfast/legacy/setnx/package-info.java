/** The old lock of the SETNX command's page, with a time stamp as value. */
@NullMarked
package dev.holdfast.legacy.setnx;

import org.jspecify.annotations.NullMarked;
