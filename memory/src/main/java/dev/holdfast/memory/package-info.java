/**
 * Locks in one process: for unit tests of code that takes locks, and as the reference that other
 * backends are held to. Not for production: other processes see nothing of them.
 *
 * <pre>{@code
 * try (LockManager locks = LockManager.open("memory:")) {
 *   MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
 *   ReportJob job = new ReportJob(locks); // takes "nightly-report"
 *   job.begin();
 *   store.steal("nightly-report", Duration.ofSeconds(30));
 *   assertThrows(LockLostException.class, job::writePage); // because it calls lease.extend(ttl)
 * }
 * }</pre>
 *
 * <p>{@code memory:} is a store of the manager's own, and {@code memory:orders} is one that all
 * managers of this JVM share which name it. The URL takes the options of {@code redlock:}, so that
 * a test profile replaces the URL alone: {@code maxTtl}, {@code retryDelay}, {@code keyPrefix} and
 * {@code owner} do the same here, the others are checked and mean nothing. {@link
 * dev.holdfast.memory.MemoryLocks} takes a {@link dev.holdfast.memory.ManualClock} as well, so that
 * a test moves time instead of waiting.
 */
@NullMarked
package dev.holdfast.memory;

import org.jspecify.annotations.NullMarked;
