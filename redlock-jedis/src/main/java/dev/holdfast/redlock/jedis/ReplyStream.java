package dev.holdfast.redlock.jedis;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import redis.clients.jedis.util.RedisInputStream;

/**
 * The replies of a node. Waiting for a reply that does not come leaves the stream usable, which it
 * does not in Jedis' own connections.
 */
final class ReplyStream extends RedisInputStream {
  private final InputStream raw;

  /**
   * Reads from a socket.
   *
   * @param raw its stream; the socket's timeout is how long {@link #await} waits
   * @param patienceNanos how long a reply that has begun may take to be complete
   */
  ReplyStream(InputStream raw, long patienceNanos) {
    super(new Patient(raw, patienceNanos));
    this.raw = raw;
  }

  /** Whether something was received that is not read yet. */
  boolean isBuffered() {
    return count < limit;
  }

  /** Waits for something to be received; false if nothing came in time. */
  boolean await() throws IOException {
    if (isBuffered()) {
      return true;
    }
    int received;
    try {
      received = raw.read(buf);
    } catch (SocketTimeoutException e) {
      return false;
    }
    if (received < 0) {
      throw new EOFException("the node closed the connection");
    }
    count = 0;
    limit = received;
    return true;
  }

  /** A stream that waits longer inside a reply, where the socket's timeout is too short. */
  private static final class Patient extends FilterInputStream {
    private final long patienceNanos;

    Patient(InputStream in, long patienceNanos) {
      super(in);
      this.patienceNanos = patienceNanos;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      long start = System.nanoTime();
      while (true) {
        try {
          return in.read(bytes, from, length);
        } catch (SocketTimeoutException e) {
          if (System.nanoTime() - start > patienceNanos) {
            throw e;
          }
        }
      }
    }
  }
}
