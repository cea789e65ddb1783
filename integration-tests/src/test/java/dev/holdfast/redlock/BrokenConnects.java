package dev.holdfast.redlock;

import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Drivers that connect too early or in the wrong way, or leave a part of a failed connection. */
final class BrokenConnects {
  private BrokenConnects() {}

  /** Tries whether each node is there, before it is asked to connect. */
  static RedisNodes tried(List<String> uris, RedisNodes nodes) {
    for (String uri : uris) {
      URI node = URI.create(uri);
      try (Socket socket = new Socket(node.getHost(), node.getPort())) {
        socket.getOutputStream().flush();
      } catch (IOException e) {
        // a node that is not there is found out when it is connected
      }
    }
    return nodes;
  }

  /** Leaves a thread for each connection that was not made. */
  static final class LeavingThreads extends PassingNodes {
    private static final long LONG = TimeUnit.MINUTES.toNanos(1);

    LeavingThreads(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      Thread thread = new Thread(() -> LockSupport.parkNanos(LONG), "of-connection-" + node);
      thread.setDaemon(true);
      thread.start();
      return nodes.connect(node, disconnected).thenAccept(done -> LockSupport.unpark(thread));
    }
  }

  /** Uses the right connection to each node at first, and the wrong one after that. */
  static final class WrongLater extends PassingNodes {
    private final RedisNodes wrong;
    private final Map<Integer, Integer> connected = new ConcurrentHashMap<>();

    WrongLater(RedisNodes right, RedisNodes wrong) {
      super(right);
      this.wrong = wrong;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      boolean isFirst = connected.merge(node, 1, Integer::sum) == 1;
      return (isFirst ? nodes : wrong).connect(node, disconnected);
    }

    @Override
    public void disconnect(int node) {
      nodes.disconnect(node);
      wrong.disconnect(node);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node ->
              (connected.getOrDefault(node, 1) == 1 ? nodes : wrong)
                  .submit(ask(round, node, new PassingAnswers(round))));
    }

    @Override
    public void close() {
      nodes.close();
      wrong.close();
    }
  }

  /** Leaves a socket open for each attempt to connect that failed. */
  static final class Leaving extends PassingNodes {
    private static final Queue<Socket> LEFT = new ConcurrentLinkedQueue<>();

    private final List<String> uris;

    Leaving(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return nodes
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                if (failure != null) {
                  leave(URI.create(uris.get(node % uris.size())));
                }
              });
    }

    private static void leave(URI uri) {
      try {
        LEFT.add(new Socket(uri.getHost(), uri.getPort()));
      } catch (IOException e) {
        // nothing is left where nobody listens
      }
    }
  }
}
