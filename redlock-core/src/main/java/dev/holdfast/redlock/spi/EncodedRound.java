package dev.holdfast.redlock.spi;

import dev.holdfast.redlock.Redlock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A round with its command as a driver's client takes it, encoded once for all nodes of the round.
 *
 * @param <E> the encoded command, such as its bytes
 */
public final class EncodedRound<E> {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private final Round round;
  private final E command;

  /** Makes a round to be written. {@link PipelinedNodes} do this themselves. */
  EncodedRound(Round round, E command) {
    this.round = round;
    this.command = command;
  }

  /**
   * Returns the command.
   *
   * @return the same for all nodes
   */
  public E command() {
    return command;
  }

  void forEachNode(IntConsumer action) {
    round.forEachNode(action);
  }

  void reply(int node, @Nullable Object reply) {
    try {
      round.reply(node, reply);
    } catch (RuntimeException | Error e) {
      log(e);
    }
  }

  void error(int node, String error) {
    try {
      round.error(node, error);
    } catch (RuntimeException | Error e) {
      log(e);
    }
  }

  void failure(int node, Throwable cause) {
    fail(round, node, cause);
  }

  /** Brings the failure of each node that a round asks. */
  static void fail(Round round, Throwable cause) {
    round.forEachNode(node -> fail(round, node, cause));
  }

  private static void fail(Round round, int node, Throwable cause) {
    try {
      round.failure(node, cause);
    } catch (RuntimeException | Error e) {
      log(e);
    }
  }

  /** Logs what a receiver has thrown, which must not keep later answers back. */
  static void log(Throwable thrown) {
    try {
      LOG.log(Level.ERROR, "an answer of a node could not be delivered", thrown);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken: the other answers still have to be brought
    }
  }
}
