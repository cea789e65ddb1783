package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Round;

/**
 * A command on its way to a node over one connection.
 *
 * @param sentAt in true time
 */
record Request(Connection connection, Round round, long sentAt) {
  /** Returns whether a token is among the words of the request. */
  boolean names(String token) {
    Command command = round.command();
    return command instanceof Command.Eval eval
        ? eval.arguments().contains(token)
        : command.words().contains(token);
  }
}
