/** {@code holdfast compare}: the scenarios in which locks differ. */
@NullMarked
package dev.holdfast.cli.compare;

import org.jspecify.annotations.NullMarked;
