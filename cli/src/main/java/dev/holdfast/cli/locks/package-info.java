/** {@code holdfast status} and {@code holdfast release}. */
@NullMarked
package dev.holdfast.cli.locks;

import org.jspecify.annotations.NullMarked;
