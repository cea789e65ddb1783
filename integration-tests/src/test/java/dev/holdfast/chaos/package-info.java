/**
 * Chaos on real processes: redis-servers behind proxies, JVMs that share locks, faults drawn from a
 * seed, and a judge who reads what all of them wrote down. See docs/chaos.md.
 */
@NullMarked
package dev.holdfast.chaos;

import org.jspecify.annotations.NullMarked;
