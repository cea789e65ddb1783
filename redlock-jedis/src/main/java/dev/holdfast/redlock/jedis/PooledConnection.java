package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.EncodedRound;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The use of a pool from the first answer of its node to the first failure. One thread borrows a
 * connection, writes all that is waiting, reads all replies, and returns the connection. Only that
 * thread waits when the node hangs or the pool is exhausted.
 */
final class PooledConnection implements CommandWriter<PooledNode.Question> {
  /** The interval of greetings to a node without commands, to learn whether it still responds. */
  private static final long GREETING_MILLIS = 1_000;

  /**
   * The most bytes that are sent before all are answered: less than the smallest buffers of a
   * connection hold together, as a write that waits for a node that hangs has no timeout.
   */
  private static final int WINDOW_BYTES = 64 * 1024;

  private final PooledNode node;
  private final CommandConnection<PooledNode.Question> commands;
  private boolean used;

  /** Connects nothing yet. */
  PooledConnection(PooledNode node, CommandConnection<PooledNode.Question> commands) {
    this.node = node;
    this.commands = commands;
  }

  void begin() {
    commands.onBegun(this);
    node.thread().execute(this::greetUnlessUsed);
  }

  /** Greets the node first, and then whenever it was asked nothing for a while. */
  private void greetUnlessUsed() {
    boolean isFirst = commands.isConnecting();
    if (!isFirst && !commands.isOpen()) {
      return; // it was dropped while this waited for its turn
    }
    try {
      if (!used) {
        greet(isFirst ? node.pool().getNumIdle() : 0);
      }
      used = false;
      node.thread().schedule(this::greetUnlessUsed, GREETING_MILLIS, TimeUnit.MILLISECONDS);
      commands.onConnected();
    } catch (RuntimeException | Error e) {
      commands.onEnded(Messages.reason(e));
    }
  }

  /** Connections that ended while they were idle in the pool say nothing of the node. */
  private void greet(int idle) {
    for (int stale = idle; ; stale--) {
      try (BorrowedConnection borrowed = BorrowedConnection.of(node.pool(), node.limit())) {
        Messages.greet(borrowed.connection());
        return;
      } catch (JedisConnectionException e) {
        if (stale <= 0 || e.getCause() instanceof SocketTimeoutException) {
          throw e;
        }
      }
    }
  }

  @Override
  public Executor executor() {
    return node.thread();
  }

  @Override
  public void write(List<EncodedRound<PooledNode.Question>> rounds) {
    used = true;
    try (BorrowedConnection borrowed = BorrowedConnection.of(node.pool(), node.limit())) {
      // after each wait: a command of a dropped connection must not be sent after its release
      for (int from = 0; from < rounds.size() && commands.isOpen(); ) {
        int to = endOfWindow(rounds, from);
        exchange(borrowed.connection(), rounds.subList(from, to));
        from = to;
      }
    } catch (RuntimeException e) {
      commands.onEnded(Messages.reason(e));
    }
  }

  private static int endOfWindow(List<EncodedRound<PooledNode.Question>> rounds, int from) {
    int bytes = rounds.get(from).command().bytes();
    int to = from + 1;
    while (to < rounds.size() && (bytes += rounds.get(to).command().bytes()) <= WINDOW_BYTES) {
      to++;
    }
    return to;
  }

  private void exchange(Connection connection, List<EncodedRound<PooledNode.Question>> window) {
    try {
      window.forEach(round -> connection.sendCommand(round.command().command()));
      window.forEach(round -> answer(connection, round));
    } catch (RuntimeException | Error e) {
      connection.setBroken(); // replies to us are still to come on it
      throw e;
    }
  }

  private void answer(Connection connection, EncodedRound<PooledNode.Question> round) {
    Object reply;
    try {
      reply = connection.getOne();
    } catch (JedisDataException e) {
      commands.onError(round, String.valueOf(e.getMessage()));
      return;
    }
    commands.onReply(round, Messages.reply(reply));
  }

  /** Cuts nothing short that is in flight: that ends within its limit, and all else after it. */
  @Override
  public void close() {
    if (node.beside() == null) { // the pool is ours
      node.thread().execute(node.pool()::clear);
    }
    commands.onEnded(new JedisConnectionException("the connection was dropped"));
  }
}
