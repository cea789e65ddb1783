/** The backends of locks, the local nodes, and {@code holdfast backends}. */
@NullMarked
package dev.holdfast.cli.backend;

import org.jspecify.annotations.NullMarked;
