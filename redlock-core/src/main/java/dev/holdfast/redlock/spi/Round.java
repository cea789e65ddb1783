package dev.holdfast.redlock.spi;

import dev.holdfast.redlock.Redlock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A command for several nodes, with the receiver of their answers. The driver answers for each node
 * exactly once, on any thread. The receiver is quick and does not block. Its exceptions are logged
 * and do not reach the driver, so that the other answers are delivered.
 */
public final class Round {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private final Command command;
  private final NodeSet nodes;
  private final Answers answers;

  /**
   * Makes a round. Managers do this themselves, so it serves only tests of drivers.
   *
   * @param command the command
   * @param nodes the nodes to ask
   * @param answers the receiver of the answers
   */
  public Round(Command command, NodeSet nodes, Answers answers) {
    this.command = command;
    this.nodes = nodes;
    this.answers = answers;
  }

  /** The receiver of the answers: one for each node that is asked. */
  public interface Answers {
    /**
     * Receives the reply of a node.
     *
     * @param node its index
     * @param reply the reply
     */
    void reply(int node, @Nullable Object reply);

    /**
     * Receives the error reply of a node.
     *
     * @param node its index
     * @param error the text of the reply
     */
    void error(int node, String error);

    /**
     * Receives the failure of a node, which will give no reply.
     *
     * @param node its index
     * @param cause why it failed
     */
    void failure(int node, Throwable cause);

    /**
     * Tells whether further answers change nothing.
     *
     * @return true once no caller waits for the round
     */
    boolean isDecided();
  }

  /**
   * Returns the command.
   *
   * @return the same for all nodes
   */
  public Command command() {
    return command;
  }

  /** Returns the nodes that are asked. */
  public NodeSet nodes() {
    return nodes;
  }

  /** Returns this round for some of its nodes, with the same receiver of answers. */
  public Round to(NodeSet some) {
    return some.equals(nodes) ? this : new Round(command, some, answers);
  }

  /**
   * Tells whether a node is asked.
   *
   * @param node its index
   * @return true if the command is for it
   */
  public boolean asks(int node) {
    return nodes.contains(node);
  }

  /**
   * Calls an action for each node that is asked, in ascending order of the indexes.
   *
   * @param action takes the index
   */
  public void forEachNode(IntConsumer action) {
    nodes.forEach(action);
  }

  /**
   * Tells whether further answers change nothing. The driver sends the command and brings the
   * answers anyway: a release must reach each node.
   *
   * @return true once no caller waits for this round
   */
  public boolean isDecided() {
    return answers.isDecided();
  }

  /**
   * Brings the reply of a node.
   *
   * @param node its index
   * @param reply a {@link Long} for an integer, a {@link String} for a status or (UTF-8) bulk
   *     string, a {@link java.util.List} of such for an array, null for nil
   */
  public void reply(int node, @Nullable Object reply) {
    try {
      answers.reply(node, reply);
    } catch (RuntimeException | Error e) {
      logUndelivered(e);
    }
  }

  /**
   * Brings the error reply of a node.
   *
   * @param node its index
   * @param error the text of the reply, its code first
   */
  public void error(int node, String error) {
    try {
      answers.error(node, error);
    } catch (RuntimeException | Error e) {
      logUndelivered(e);
    }
  }

  /**
   * Brings the failure of a node, which will give no reply.
   *
   * @param node its index
   * @param cause why it failed
   */
  public void failure(int node, Throwable cause) {
    try {
      answers.failure(node, cause);
    } catch (RuntimeException | Error e) {
      logUndelivered(e);
    }
  }

  /** Logs what a receiver has thrown, which must not keep later answers back. */
  static void logUndelivered(Throwable thrown) {
    try {
      LOG.log(Level.ERROR, "an answer of a node could not be delivered", thrown);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken: the other answers still have to be brought
    }
  }
}
