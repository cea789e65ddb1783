package dev.holdfast.redlock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** One command for one node, and its answer as a future. */
final class OneNode implements Round.Answers {
  private final CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();

  private OneNode() {}

  /** An error reply. */
  private static final class ErrorReply extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ErrorReply(String error) {
      super(error, null, false, false);
    }
  }

  static CompletableFuture<@Nullable Object> ask(RedisNodes nodes, int node, Command command) {
    OneNode question = new OneNode();
    nodes.submit(new Round(command, 1L << node, false, question));
    return question.answer;
  }

  /** As if the node had replied with an error. */
  static CompletableFuture<@Nullable Object> failed(String error) {
    return CompletableFuture.failedFuture(new ErrorReply(error));
  }

  /** The text of an error reply; null if it was no such thing. */
  static @Nullable String errorOf(@Nullable Throwable failure) {
    return causeOf(failure) instanceof ErrorReply reply ? reply.getMessage() : null;
  }

  /** Without what a future wraps around it. */
  static @Nullable Throwable causeOf(@Nullable Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    answer.complete(reply);
  }

  @Override
  public void error(int node, String error) {
    answer.completeExceptionally(new ErrorReply(error));
  }

  @Override
  public void failure(int node, Throwable cause) {
    answer.completeExceptionally(cause);
  }

  @Override
  public boolean decided() {
    return answer.isDone();
  }
}
