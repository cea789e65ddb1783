package dev.holdfast.redlock.spi;

import org.jspecify.annotations.Nullable;

/**
 * A round with its command as a driver's client takes it, encoded once for all nodes of the round.
 *
 * @param <E> the encoded command, such as its bytes
 */
public final class EncodedRound<E> {
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

  NodeSet nodes() {
    return round.nodes();
  }

  void reply(int node, @Nullable Object reply) {
    round.reply(node, reply);
  }

  void error(int node, String error) {
    round.error(node, error);
  }

  void failure(int node, Throwable cause) {
    round.failure(node, cause);
  }
}
