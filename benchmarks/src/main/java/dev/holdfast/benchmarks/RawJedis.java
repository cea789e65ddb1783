package dev.holdfast.benchmarks;

import java.net.URI;
import java.util.List;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.stream.Stream;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;

/** Jedis without a lock's logic: written to all servers before any reply is read, by the caller. */
final class RawJedis implements RawLock {
  private static final String TTL = Long.toString(Terms.TTL.toMillis());

  private final List<HostAndPort> nodes;
  private final String release;

  /** One connection to each server. The one that was used last is taken first. */
  private final BlockingDeque<List<Connection>> pool = new LinkedBlockingDeque<>();

  RawJedis(List<String> uris) {
    nodes =
        uris.stream()
            .map(URI::create)
            .map(uri -> new HostAndPort(uri.getHost(), uri.getPort()))
            .toList();
    Stream.generate(this::connections).limit(Terms.POOL).forEach(pool::add);
    List<Connection> first = pool.getFirst();
    send(first, Command.SCRIPT, "LOAD", RawCommands.RELEASE);
    release = first.stream().map(Connection::getBulkReply).toList().get(0);
  }

  private List<Connection> connections() {
    return nodes.stream().map(Connection::new).toList();
  }

  @Override
  public int servers() {
    return nodes.size();
  }

  @Override
  public int set(String name, String token) throws InterruptedException {
    return answers(Command.SET, name, token, "NX", "PX", TTL);
  }

  @Override
  public void release(String name, String token) throws InterruptedException {
    answers(Command.EVALSHA, release, "1", name, token);
  }

  /** Sends a command to all servers, and returns the number of answers that are not null. */
  private int answers(Command command, String... words) throws InterruptedException {
    List<Connection> connections = pool.takeFirst();
    try {
      send(connections, command, words);
      int answers = 0;
      for (Connection connection : connections) {
        answers += connection.getUnflushedObject() == null ? 0 : 1;
      }
      return answers;
    } finally {
      pool.addFirst(connections);
    }
  }

  private static void send(List<Connection> connections, Command command, String... words) {
    for (Connection connection : connections) {
      connection.sendCommand(command, words);
      // Reads nothing, but sends what is written.
      connection.getMany(0);
    }
  }

  @Override
  public void close() {
    pool.forEach(connections -> connections.forEach(Connection::close));
  }
}
