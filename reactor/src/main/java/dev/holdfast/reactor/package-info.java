/**
 * Locks for Project Reactor: {@link dev.holdfast.reactor.ReactiveLocks} acquires a lease without
 * blocking a thread, and holds it until a Mono or a Flux ends, fails or is cancelled.
 */
@NullMarked
package dev.holdfast.reactor;

import org.jspecify.annotations.NullMarked;
