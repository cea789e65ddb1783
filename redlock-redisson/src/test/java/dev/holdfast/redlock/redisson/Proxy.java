package dev.holdfast.redlock.redisson;

import dev.holdfast.testnodes.TestNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands before a server, and can lose its replies and cut connections. */
final class Proxy implements AutoCloseable {
  private final TestNode server;
  private final ServerSocket door;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean losesReplies;

  Proxy(TestNode server) throws IOException {
    this.server = server;
    this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  String uri() {
    return "redis://127.0.0.1:" + door.getLocalPort();
  }

  /** Commands still arrive; what the server replies does not, on any connection. */
  void loseReplies(boolean lose) {
    losesReplies = lose;
  }

  /** Ends all connections. */
  void cut() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  @Override
  public void close() throws IOException {
    door.close();
    cut();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = door.accept();
      Socket upstream = new Socket(server.host(), server.port());
      client.setTcpNoDelay(true);
      upstream.setTcpNoDelay(true);
      sockets.add(client);
      sockets.add(upstream);
      start(() -> pump(client, upstream, false));
      start(() -> pump(upstream, client, true));
    }
  }

  private void pump(Socket from, Socket to, boolean replies) throws IOException {
    byte[] buffer = new byte[16 * 1024];
    try (from;
        to) {
      for (int read = 0; read >= 0; read = from.getInputStream().read(buffer)) {
        if (!(replies && losesReplies)) {
          to.getOutputStream().write(buffer, 0, read);
        }
      }
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void start(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // closed, by us or by the other side
              }
            },
            "test-proxy");
    thread.setDaemon(true);
    thread.start();
  }
}
