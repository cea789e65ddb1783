package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One connection to one node, from the attempt at it to its end. Jedis connects and greets; then we
 * write and read its socket ourselves. Those methods that say so are for the owner of the {@link
 * IoLoop} alone.
 */
final class SocketConnection {
  /** The shortest timeout that a socket can have: how long a read waits at most. */
  private static final int SLICE_MILLIS = 1;

  /**
   * The most bytes that are sent before all are answered: less than the smallest buffers of a
   * connection hold together, so that no write waits for a node that hangs.
   */
  private static final int WINDOW_BYTES = 64 * 1024;

  private static final int USUAL_BYTES = 512;

  private final int node;
  private final Runnable disconnected;
  private final CompletableFuture<Void> connected = new CompletableFuture<>();
  private @Nullable Socket socket;
  private @Nullable ReplyStream in;
  private @Nullable OutputStream out;
  private volatile boolean dropped;

  private final Deque<Round> inFlight = new ArrayDeque<>();
  private final Deque<EncodedRound> unsent = new ArrayDeque<>();
  private byte[] batch = new byte[USUAL_BYTES];
  private int batched;
  private int sentBytes;
  private boolean late;
  private boolean ended;
  private long heardAt;

  SocketConnection(int node, Runnable disconnected) {
    this.node = node;
    this.disconnected = disconnected;
  }

  CompletableFuture<Void> connected() {
    return connected;
  }

  /** Connects; on a thread that may wait. */
  void connect(Address address, Duration timeout, Duration patience) {
    try {
      Socket made = greeted(address, timeout);
      made.setSoTimeout(SLICE_MILLIS);
      made.setSoLinger(false, 0); // what was written last still goes out
      in = new ReplyStream(made.getInputStream(), patience.toNanos());
      out = made.getOutputStream();
      heardAt = System.nanoTime();
      if (!connected.complete(null)) {
        close(made);
      }
    } catch (RuntimeException | IOException e) {
      close(socket);
      connected.completeExceptionally(Messages.reason(e));
    }
  }

  private Socket greeted(Address address, Duration timeout) {
    JedisClientConfig config = address.config(timeout);
    JedisSocketFactory sockets = new DefaultJedisSocketFactory(address.server(), config);
    JedisSocketFactory remembering =
        () -> {
          Socket made = sockets.createSocket();
          socket = made;
          return made;
        };
    Messages.greet(new Connection(remembering, config));
    if (socket == null) {
      throw Messages.notConnected();
    }
    return socket;
  }

  /** Ends the attempt to connect, or lets the loop's owner end the connection. Never blocks. */
  void drop() {
    dropped = true;
    connected.completeExceptionally(
        new JedisConnectionException("dropped while it was being connected"));
  }

  boolean isUp() {
    return connected.isDone() && !connected.isCompletedExceptionally() && !ended;
  }

  /** For the owner: adds to what must be sent; false if nothing can be. */
  boolean ask(EncodedRound request) {
    if (!isUp() || dropped) {
      return false;
    }
    int length = request.bytes.length;
    if (inFlight.isEmpty()) {
      heardAt = System.nanoTime();
      sentBytes = 0;
    } else if (!unsent.isEmpty() || sentBytes + length > WINDOW_BYTES) {
      unsent.add(request);
      return true;
    }
    inFlight.add(request.round);
    add(request.bytes);
    sentBytes += length;
    return true;
  }

  private void add(byte[] bytes) {
    int needed = batched + bytes.length;
    if (needed > batch.length) {
      batch = Arrays.copyOf(batch, Math.max(needed, 2 * batch.length));
    }
    System.arraycopy(bytes, 0, batch, batched, bytes.length);
    batched = needed;
  }

  /** For the owner: sends what was asked. */
  void flush() {
    if (batched == 0 || out == null) {
      return;
    }
    int length = batched;
    batched = 0;
    try {
      out.write(batch, 0, length);
    } catch (IOException e) {
      end(e);
    }
  }

  /** For the owner: whether replies are pending. */
  boolean hasUnanswered() {
    return !inFlight.isEmpty();
  }

  /** For the owner: whether the node was silent when last read. */
  boolean isLate() {
    return late;
  }

  /** For the owner: for how long nothing has been heard, or should have been heard. */
  long silentNanos() {
    return System.nanoTime() - heardAt;
  }

  /**
   * For the owner: reads what has come, and waits for a slice if nothing has. Returns whether
   * something had.
   */
  boolean read() {
    if (!isUp() || in == null) {
      return false;
    }
    try {
      if (!in.await()) {
        late = hasUnanswered();
        return false;
      }
      do {
        answer(in);
      } while (hasUnanswered() && in.isBuffered());
      heardAt = System.nanoTime();
      late &= hasUnanswered();
      sendMore();
    } catch (JedisException | IOException e) {
      end(e);
    }
    return true;
  }

  @SuppressWarnings("deprecation") // what must be used instead is not in Jedis 7
  private void answer(ReplyStream replies) {
    if (!hasUnanswered()) {
      throw new JedisConnectionException("the node said something that it was not asked");
    }
    Object reply;
    try {
      reply = Protocol.read(replies);
    } catch (JedisDataException e) {
      inFlight.remove().error(node, String.valueOf(e.getMessage()));
      return;
    }
    inFlight.remove().reply(node, Messages.reply(reply));
  }

  /** Sends what waits for replies to what was sent before, once they have come. */
  private void sendMore() {
    if (!hasUnanswered() && !unsent.isEmpty()) {
      Deque<EncodedRound> waiting = new ArrayDeque<>(unsent);
      unsent.clear();
      waiting.forEach(this::ask);
      flush();
    }
  }

  /** For the owner: ends the connection; all that is not answered fails. */
  void end(Throwable cause) {
    connected.completeExceptionally(cause);
    if (!isUp()) {
      return;
    }
    ended = true;
    close(socket);
    batched = 0;
    Throwable reason = Messages.reason(cause);
    while (hasUnanswered()) {
      inFlight.remove().failure(node, reason);
    }
    while (!unsent.isEmpty()) {
      unsent.remove().round.failure(node, reason);
    }
    disconnected.run();
  }

  private static void close(@Nullable Socket socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // it is closed anyway
    }
  }
}
