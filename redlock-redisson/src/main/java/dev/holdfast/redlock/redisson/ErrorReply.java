package dev.holdfast.redlock.redisson;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisMovedException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisRedirectException;

/** What Redis said, found again in what Redisson makes of it. */
final class ErrorReply {
  /** Redisson appends where it came from and, with all arguments, what it was for. */
  private static final String APPENDED = ". channel: [id: 0x";

  private ErrorReply() {}

  /** The text of an error reply, its code first; null if the failure is none. */
  static @Nullable String in(Throwable failure) {
    if (failure instanceof RedisRedirectException elsewhere) {
      return redirect(elsewhere);
    }
    String message = failure.getMessage();
    int end = failure instanceof RedisException && message != null ? message.indexOf(APPENDED) : -1;
    if (message == null || end < 0) {
      return null;
    }
    String text = message.substring(0, end);
    // of this one, and what stands before it inside a script, Redisson cuts the code off
    return failure instanceof RedisOutOfMemoryException ? "OOM " + text : text;
  }

  /** From a node of a cluster, or one that hands its place over. */
  private static String redirect(RedisRedirectException elsewhere) {
    String target = elsewhere.getUrl().getHost() + ":" + elsewhere.getUrl().getPort();
    return elsewhere.getSlot() == null
        ? "REDIRECT " + target
        : (elsewhere instanceof RedisMovedException ? "MOVED " : "ASK ")
            + elsewhere.getSlot()
            + " "
            + target;
  }

  /** The reason why a connection was not made, without the commands that were sent for it. */
  static Throwable reason(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? reason(failure.getCause())
            : failure;
    String error = in(cause);
    return error == null ? cause : new RedisConnectionException(error);
  }
}
