/** Runs the code that ships through seeded faulty histories, in virtual time, on one thread. */
@NullMarked
package dev.holdfast.simulation;

import org.jspecify.annotations.NullMarked;
