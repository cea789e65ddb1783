/**
 * Real redis-servers for tests and demos, and faults on them.
 *
 * <p>{@link dev.holdfast.testnodes.TestNodes#start(int)} starts some, and each {@link
 * dev.holdfast.testnodes.TestNode} can be frozen, thawed, killed and restarted. Needs a POSIX
 * system (Linux, macOS), or Docker.
 *
 * <p>{@link dev.holdfast.testnodes.NodeSource} says which servers: the packed one, one of this
 * machine, or, with the optional dependency {@code org.testcontainers:testcontainers}, containers.
 */
@NullMarked
package dev.holdfast.testnodes;

import org.jspecify.annotations.NullMarked;
