/** Measures locks side by side: all of them in one process, in turns, on servers that it starts. */
@NullMarked
package dev.holdfast.benchmarks;

import org.jspecify.annotations.NullMarked;
