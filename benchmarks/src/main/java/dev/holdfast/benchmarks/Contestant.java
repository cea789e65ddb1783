package dev.holdfast.benchmarks;

import java.util.concurrent.CompletableFuture;

/** A lock that is measured, connected to the servers. Used by many threads at once. */
public interface Contestant extends AutoCloseable {
  /**
   * Acquires the lock, does the work while it is held, and releases it.
   *
   * @param name of the lock
   * @param work takes no longer than {@link Terms#TTL}
   * @return whether it was acquired within {@link Terms#WAIT}
   * @throws Exception if the lock's servers, or the lock, did not do their part
   */
  boolean locked(String name, Runnable work) throws Exception;

  /**
   * Acquires and releases the lock without blocking a thread.
   *
   * @param name of the lock
   * @return whether it was acquired
   * @throws UnsupportedOperationException if this lock has no such call
   */
  default CompletableFuture<Boolean> lockedAsync(String name) {
    throw new UnsupportedOperationException();
  }

  /**
   * Acquires the lock and has it renewed in the background until this is closed.
   *
   * @param name of the lock
   * @return whether it was acquired
   * @throws Exception if the lock's servers, or the lock, did not do their part
   * @throws UnsupportedOperationException if this lock has no such call
   */
  default boolean keep(String name) throws Exception {
    throw new UnsupportedOperationException();
  }

  /** Ends all connections and threads. */
  @Override
  void close();
}
