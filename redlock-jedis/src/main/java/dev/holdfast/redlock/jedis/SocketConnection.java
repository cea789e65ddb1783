package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.ReplyReader;
import dev.holdfast.redlock.spi.Round;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * One connection to one node, from connecting to its end. Jedis connects and greets. Then we write
 * and read its socket ourselves. Methods that say so are for the owner of the {@link IoLoop} alone.
 */
final class SocketConnection {
  /** The shortest timeout that a socket can have: how long a read waits at most. */
  private static final int SLICE_MILLIS = 1;

  /** The time for which other nodes are read before a node that is late. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * The most bytes that are sent before all are answered: less than the smallest buffers of a
   * connection hold together, so that no write waits for a node that hangs.
   */
  private static final int WINDOW_BYTES = 64 * 1024;

  private final int node;
  private final Runnable disconnected;
  private final CompletableFuture<Void> connected = new CompletableFuture<>();
  private final ClosableSocket socket = new ClosableSocket();
  private volatile boolean dropped;

  private final Deque<Round> inFlight = new ArrayDeque<>();
  private final Deque<IoLoop.QueuedRound> unsent = new ArrayDeque<>();
  private final ByteArrayOutputStream batch = new ByteArrayOutputStream(512);
  private final ReplyReader replies = new ReplyReader();
  private int sentBytes;
  private boolean late;
  private long lateAt;
  private boolean ended;
  private long lastReadAt;

  SocketConnection(int node, Runnable disconnected) {
    this.node = node;
    this.disconnected = disconnected;
  }

  CompletableFuture<Void> connected() {
    return connected;
  }

  /** Connects, on a thread that may wait. */
  void connect(Address address, Duration timeout) {
    if (dropped) {
      return;
    }
    try {
      Messages.greet(socket.connect(address, timeout));
      socket.get().setSoTimeout(SLICE_MILLIS);
      socket.get().setSoLinger(false, 0); // the last written bytes still go out
      lastReadAt = System.nanoTime();
      if (!connected.complete(null)) {
        socket.close();
      }
    } catch (IOException | RuntimeException | Error e) {
      socket.close();
      connected.completeExceptionally(Messages.reason(e));
    }
  }

  /** Ends the connecting, or lets the loop's owner end the connection. Does not wait for a node. */
  void drop() {
    dropped = true;
    endConnecting(new JedisConnectionException("dropped while it was being connected"));
  }

  private void endConnecting(Throwable cause) {
    if (connected.completeExceptionally(cause)) {
      socket.close();
    }
  }

  boolean isUp() {
    return connected.isDone() && !connected.isCompletedExceptionally() && !ended;
  }

  /** Queues a command, or fails it if nothing can be sent. For the owner. */
  void ask(IoLoop.QueuedRound queuedRound) {
    if (isUp() && !dropped) {
      try {
        queue(queuedRound);
        return;
      } catch (RuntimeException | Error e) { // no memory, for example
        end(e);
      }
    }
    queuedRound.round.failure(node, Messages.notConnected());
  }

  /** Adds a command to those of the next flush, or to those that wait for replies. */
  private void queue(IoLoop.QueuedRound queuedRound) {
    int length = queuedRound.command.length;
    if (inFlight.isEmpty()) {
      sentBytes = 0;
    } else if (!unsent.isEmpty() || sentBytes + length > WINDOW_BYTES) {
      unsent.add(queuedRound);
      return;
    }
    batch.write(queuedRound.command, 0, length);
    inFlight.add(queuedRound.round); // second: a command that cannot be written has no reply
    sentBytes += length;
  }

  /** Sends the queued commands. For the owner. */
  void flush() {
    if (batch.size() > 0) {
      try {
        batch.writeTo(socket.get().getOutputStream());
      } catch (IOException | RuntimeException | Error e) { // a part may have been written
        end(e);
      }
      batch.reset();
    }
  }

  /** Tells whether replies are pending. For the owner. */
  boolean hasUnanswered() {
    return !inFlight.isEmpty();
  }

  /** Tells whether the node was silent when it was read a short time ago. For the owner. */
  boolean isLate() {
    return late && System.nanoTime() - lateAt < LATE_NANOS;
  }

  /** Returns the time since the last bytes of the node. For the owner. */
  long silentNanos() {
    return System.nanoTime() - lastReadAt;
  }

  /**
   * Reads the bytes that have arrived, or waits for a slice if there are none. Returns whether
   * there were any. For the owner.
   */
  boolean read() {
    if (!isUp() || dropped) {
      return false;
    }
    try {
      replies.receive(socket.get().getInputStream());
      while (replies.hasNext()) {
        answer(replies.next());
      }
      lastReadAt = System.nanoTime();
      late &= hasUnanswered();
      sendMore();
    } catch (SocketTimeoutException e) {
      late = hasUnanswered();
      lateAt = System.nanoTime();
      return false;
    } catch (IOException | RuntimeException | Error e) { // no memory for a reply, for example
      end(e);
    }
    return true;
  }

  private void answer(@Nullable Object reply) throws IOException {
    if (!hasUnanswered()) {
      throw new IOException("the node said something that it was not asked");
    }
    Round round = inFlight.remove();
    if (reply instanceof ReplyReader.ErrorReply error) {
      round.error(node, error.text());
    } else {
      round.reply(node, reply);
    }
  }

  /** Sends what waits for replies to what was sent before, once they have come. */
  private void sendMore() {
    if (!hasUnanswered() && !unsent.isEmpty()) {
      Deque<IoLoop.QueuedRound> waiting = new ArrayDeque<>(unsent);
      unsent.clear();
      waiting.forEach(this::ask);
      flush();
    }
  }

  /** Ends the connection, and fails all unanswered commands. For the owner. */
  void end(Throwable cause) {
    endConnecting(cause);
    if (!isUp()) {
      return;
    }
    ended = true;
    socket.close();
    batch.reset();
    Throwable reason = Messages.reason(cause);
    while (hasUnanswered()) {
      inFlight.remove().failure(node, reason);
    }
    while (!unsent.isEmpty()) {
      unsent.remove().round.failure(node, reason);
    }
    disconnected.run();
  }
}
