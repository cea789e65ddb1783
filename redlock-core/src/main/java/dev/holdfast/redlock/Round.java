package dev.holdfast.redlock;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One command for several nodes at once, and where their answers go. The driver answers for each
 * node exactly once, on any thread; what happens then is short and does not block.
 */
public final class Round {
  private final Command command;
  private final long nodes;
  private final boolean callerWaits;
  private final Answers answers;

  /**
   * Makes a round. Managers do so themselves; for tests of a driver alone.
   *
   * @param command what to ask
   * @param nodes whom: bit i is for the node with index i
   * @param callerWaits whether {@link RedisNodes#submit} may block until the round is decided
   * @param answers where the answers go
   */
  public Round(Command command, long nodes, boolean callerWaits, Answers answers) {
    this.command = command;
    this.nodes = nodes;
    this.callerWaits = callerWaits;
    this.answers = answers;
  }

  /** Where the answers go: one for each node that is asked. See the methods of the same names. */
  public interface Answers {
    /**
     * A node replied.
     *
     * @param node its index
     * @param reply what it replied
     */
    void reply(int node, @Nullable Object reply);

    /**
     * A node replied with an error.
     *
     * @param node its index
     * @param error the text of the reply
     */
    void error(int node, String error);

    /**
     * A node gave no reply, and will give none.
     *
     * @param node its index
     * @param cause why not
     */
    void failure(int node, Throwable cause);

    /**
     * Whether further answers change nothing any more.
     *
     * @return true once nobody waits for the round
     */
    boolean decided();
  }

  /**
   * What to ask.
   *
   * @return the same for all nodes
   */
  public Command command() {
    return command;
  }

  /** The nodes that are asked: bit i is node i. */
  long nodes() {
    return nodes;
  }

  /** The same round for some of its nodes; its answers go where the others' go. */
  Round to(long some) {
    return new Round(command, some, callerWaits, answers);
  }

  /**
   * Whether a node is asked.
   *
   * @param node its index
   * @return true if the command is for it
   */
  public boolean asks(int node) {
    return (nodes & 1L << node) != 0;
  }

  /**
   * Goes through the nodes that are asked, in the order of their indexes.
   *
   * @param action takes the index
   */
  public void forEachNode(IntConsumer action) {
    for (long left = nodes; left != 0; left &= left - 1) {
      action.accept(Long.numberOfTrailingZeros(left));
    }
  }

  /**
   * Whether the submitting thread does nothing else until the round is decided, so that the driver
   * may use it for its input and output.
   *
   * @return false if {@link RedisNodes#submit} must not block
   */
  public boolean callerWaits() {
    return callerWaits;
  }

  /**
   * Whether further answers change nothing any more; they are still to be brought.
   *
   * @return true once nobody waits for this round
   */
  public boolean decided() {
    return answers.decided();
  }

  /**
   * A node replied.
   *
   * @param node its index
   * @param reply a {@link Long} for an integer, a {@link String} for a status or (UTF-8) bulk
   *     string, a {@link java.util.List} of such for an array, null for nil
   */
  public void reply(int node, @Nullable Object reply) {
    answers.reply(node, reply);
  }

  /**
   * A node replied with an error.
   *
   * @param node its index
   * @param error the text of the reply, its code first
   */
  public void error(int node, String error) {
    answers.error(node, error);
  }

  /**
   * A node gave no reply, and will give none.
   *
   * @param node its index
   * @param cause why not
   */
  public void failure(int node, Throwable cause) {
    answers.failure(node, cause);
  }
}
