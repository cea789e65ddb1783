package dev.holdfast.redlock.spi;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The client's side of a {@link CommandConnection}: the calls with which a driver writes to one
 * connection and closes it.
 *
 * @param <E> an encoded command
 */
public interface CommandWriter<E> {
  /**
   * Returns the thread that writes, which may be another one than that which reads.
   *
   * @return runs one task at a time, in the order in which they come, the same each time. If it
   *     rejects a task, the connection has ended
   */
  Executor executor();

  /**
   * Writes commands in one go, in their order. Called by the executor alone, and never after {@link
   * #close} was called there. Whatever it throws ends the connection.
   *
   * @param commands at least one
   * @throws IOException if they could not be written
   */
  void write(List<EncodedRound<E>> commands) throws IOException;

  /**
   * Closes the connection, or ends the connecting, and lets the client not make it again. Called
   * once, on any thread, also for a connection that has ended by itself. Does not block. The driver
   * calls {@link CommandConnection#onEnded} when the connection is closed, or at once.
   */
  void close();
}
