package dev.holdfast.testsupport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Stands before a server, and can lose its replies, break them off, and cut connections. */
public final class FaultProxy implements AutoCloseable {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
  private static final int ALL = 16 * 1024;

  private final String host;
  private final int port;
  private final int pieces;
  private final ServerSocket door;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean losesReplies;
  private volatile boolean breaksRepliesOff;

  /**
   * Passes on all at once.
   *
   * @param host the server's
   * @param port the server's own, or that for TLS
   */
  public FaultProxy(String host, int port) throws IOException {
    this(host, port, ALL);
  }

  /**
   * Passes on what the server replies in pieces, with a pause after each.
   *
   * @param host the server's
   * @param port the server's own, or that for TLS
   * @param pieces how many bytes each has
   */
  public FaultProxy(String host, int port, int pieces) throws IOException {
    this.host = host;
    this.port = port;
    this.pieces = pieces;
    this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** Its own port, on the loopback address. */
  public int port() {
    return door.getLocalPort();
  }

  /** Its own address, for a driver. */
  public String uri() {
    return "redis://127.0.0.1:" + port();
  }

  /** Commands still arrive, but no reply does, on any connection. */
  public void loseReplies(boolean lose) {
    losesReplies = lose;
  }

  /** Commands still arrive, but only the first byte of each reply does. */
  public void breakRepliesOff(boolean breakOff) {
    breaksRepliesOff = breakOff;
  }

  /** Ends all connections. */
  public synchronized void cut() throws IOException {
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
      lead(door.accept());
    }
  }

  /**
   * Connects both sides, as one step with respect to {@link #cut}: the server shows a connection
   * before we have noted it.
   */
  private synchronized void lead(Socket client) throws IOException {
    Socket upstream = new Socket(host, port);
    client.setTcpNoDelay(true);
    upstream.setTcpNoDelay(true);
    sockets.add(client);
    sockets.add(upstream);
    start(() -> pump(client, upstream, false));
    start(() -> pump(upstream, client, true));
  }

  private void pump(Socket from, Socket to, boolean replies) throws IOException {
    byte[] buffer = new byte[replies ? pieces : ALL];
    try (from;
        to) {
      for (int read = 0; read >= 0; read = from.getInputStream().read(buffer)) {
        if (!(replies && losesReplies)) {
          boolean breaksOff = replies && breaksRepliesOff;
          to.getOutputStream().write(buffer, 0, breaksOff ? Math.min(1, read) : read);
          if (read == pieces) {
            LockSupport.parkNanos(PAUSE_NANOS); // the reader is to see each by itself
          }
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
