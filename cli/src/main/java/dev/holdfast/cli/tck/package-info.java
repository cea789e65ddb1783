/** {@code holdfast tck}: the kit on a backend, and its reports. */
@NullMarked
package dev.holdfast.cli.tck;

import org.jspecify.annotations.NullMarked;
