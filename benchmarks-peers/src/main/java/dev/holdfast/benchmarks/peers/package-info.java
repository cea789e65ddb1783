/** Locks of Spring Integration and ShedLock, for {@code holdfast bench}. */
@NullMarked
package dev.holdfast.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
