package dev.holdfast.drivertests;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testsupport.Eventually;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A round, and all the answers that it got, in the order in which they came. */
public final class Asked implements Round.Answers {
  private final ConcurrentLinkedQueue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final Runnable whenAnswered;

  /** One answer. */
  public sealed interface Answer {}

  /** A reply by {@link Round#reply}. */
  public record Reply(int node, @Nullable Object reply) implements Answer {}

  /** A reply by {@link Round#error}. */
  public record ErrorReply(int node, String error) implements Answer {}

  /** A failure by {@link Round#failure}. */
  public record Failure(int node, Throwable cause) implements Answer {}

  private Asked(Runnable whenAnswered) {
    this.whenAnswered = whenAnswered;
  }

  /** Asks node 0 alone to run a script. */
  public static Asked of(RedisConnections nodes, String script, String... arguments) {
    return of(nodes, NodeSet.of(0), () -> {}, script, arguments);
  }

  /** Asks some nodes to run a script. */
  public static Asked of(
      RedisConnections nodes,
      NodeSet targets,
      Runnable whenAnswered,
      String script,
      String... arguments) {
    Command command =
        new Command.Eval(
            new Script(script, "not used"), true, List.of("the-key"), List.of(arguments));
    return of(nodes, targets, whenAnswered, command);
  }

  /** Sends these words on one connection. */
  public static Asked plainly(RedisConnections nodes, int node, String... words) {
    return of(nodes, NodeSet.of(node), () -> {}, new Command.Plain(List.of(words)));
  }

  /** Asks some nodes. */
  public static Asked of(
      RedisConnections nodes, NodeSet targets, Runnable whenAnswered, Command command) {
    Asked asked = new Asked(whenAnswered);
    nodes.submit(new Round(command, targets, asked));
    return asked;
  }

  /** Returns the reply of the only node, or null for nil. */
  public @Nullable Object reply() {
    return only(Reply.class).reply();
  }

  /** Returns the error reply of the only node. */
  public String error() {
    return only(ErrorReply.class).error();
  }

  /** Returns why the only node gave no reply. */
  public Throwable failure() {
    return only(Failure.class).cause();
  }

  /** All answers so far. */
  public List<Answer> answers() {
    return List.copyOf(answers);
  }

  private <T extends Answer> T only(Class<T> kind) {
    if (answers.isEmpty()) {
      Eventually.soon().until(() -> !answers.isEmpty());
    }
    if (answers.size() > 1 || !kind.isInstance(answers.element())) {
      throw new AssertionError("not one " + kind.getSimpleName() + ", but " + answers);
    }
    return kind.cast(answers.element());
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    add(new Reply(node, reply));
  }

  @Override
  public void error(int node, String error) {
    add(new ErrorReply(node, error));
  }

  @Override
  public void failure(int node, Throwable cause) {
    add(new Failure(node, cause));
  }

  @Override
  public boolean isDecided() {
    return false;
  }

  @Override
  public String toString() {
    return answers.toString();
  }

  private void add(Answer answer) {
    answers.add(answer);
    whenAnswered.run();
  }
}
