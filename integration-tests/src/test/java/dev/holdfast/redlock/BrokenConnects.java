package dev.holdfast.redlock;

import dev.holdfast.redlock.spi.RedisNodes;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Drivers that connect too early, or leave something of a connection that failed. */
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
}
