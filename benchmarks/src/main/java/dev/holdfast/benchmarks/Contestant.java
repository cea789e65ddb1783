package dev.holdfast.benchmarks;

import java.util.concurrent.CompletableFuture;

/** A lock that is measured, connected to the servers. Used by many threads at once. */
public interface Contestant extends AutoCloseable {
  /**
   * Takes the lock, does the work while it is held, and gives it back.
   *
   * @param name of the lock
   * @param work takes no longer than {@link Terms#TTL}
   * @return whether it was got within {@link Terms#WAIT}
   * @throws Exception if the lock's servers, or the lock, did not do their part
   */
  boolean locked(String name, Runnable work) throws Exception;

  /**
   * Takes the lock and gives it back, without a thread that waits.
   *
   * @param name of the lock
   * @return whether it was got
   * @throws UnsupportedOperationException if this lock knows no such thing
   */
  default CompletableFuture<Boolean> lockedAsync(String name) {
    throw new UnsupportedOperationException();
  }

  /**
   * Takes the lock and has it renewed in the background until this is closed.
   *
   * @param name of the lock
   * @return whether it was got
   * @throws Exception if the lock's servers, or the lock, did not do their part
   * @throws UnsupportedOperationException if this lock knows no such thing
   */
  default boolean keep(String name) throws Exception {
    throw new UnsupportedOperationException();
  }

  /** Ends all connections and threads. */
  @Override
  void close();
}
