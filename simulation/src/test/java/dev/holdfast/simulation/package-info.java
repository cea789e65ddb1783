/** The simulator's own tests, and the core's proof by it. */
@NullMarked
package dev.holdfast.simulation;

import org.jspecify.annotations.NullMarked;
