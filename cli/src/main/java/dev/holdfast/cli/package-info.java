/** The command line: {@code holdfast}. */
@NullMarked
package dev.holdfast.cli;

import org.jspecify.annotations.NullMarked;
