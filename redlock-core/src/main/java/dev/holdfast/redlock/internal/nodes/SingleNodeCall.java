package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.Round;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A command for one node, with its answer as a future. */
public final class SingleNodeCall implements Round.Answers {
  private final CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();

  private SingleNodeCall() {}

  /** An error reply. */
  private static final class ErrorReply extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ErrorReply(String error) {
      super(error, null, false, false);
    }
  }

  public static CompletableFuture<@Nullable Object> ask(
      RedisConnections nodes, int node, Command command) {
    SingleNodeCall call = new SingleNodeCall();
    nodes.submit(new Round(command, NodeSet.of(node), call));
    return call.answer;
  }

  /** Returns the answer of a node that replied with an error. */
  public static CompletableFuture<@Nullable Object> failed(String error) {
    return CompletableFuture.failedFuture(new ErrorReply(error));
  }

  /** Returns the text of an error reply, or null for any other failure. */
  public static @Nullable String errorOf(@Nullable Throwable failure) {
    return causeOf(failure) instanceof ErrorReply reply ? reply.getMessage() : null;
  }

  /** Returns the failure without the exception that a future wraps around it. */
  public static @Nullable Throwable causeOf(@Nullable Throwable failure) {
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
  public boolean isDecided() {
    return answer.isDone();
  }
}
