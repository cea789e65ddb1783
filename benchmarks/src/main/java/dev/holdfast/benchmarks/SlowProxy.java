package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A proxy before a server, whose replies can be late or never arrive. Thread-safe. */
public final class SlowProxy implements AutoCloseable {
  private static final int BUFFER = 16 * 1024;

  private static final Packet END = new Packet(0, ByteBuffer.allocate(0));

  private final TestNode node;
  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile long lateNanos;
  private volatile boolean held;

  /** Part of a reply, and when it must arrive. The last one is empty. */
  private record Packet(long due, ByteBuffer bytes) {}

  private SlowProxy(TestNode node) {
    this.node = node;
    try {
      listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Listens from now on. Nothing is late yet. */
  public static SlowProxy before(TestNode node) {
    SlowProxy proxy = new SlowProxy(node);
    start(proxy::accept);
    return proxy;
  }

  String uri() {
    return "redis://" + host() + ":" + port();
  }

  public String host() {
    return listener.getInetAddress().getHostAddress();
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** Drops all that the server sends from now on. */
  public void hold() {
    held = true;
  }

  /** Delays replies by this time from now on. */
  void late(Duration time) {
    lateNanos = time.toNanos();
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      Socket server = new Socket(node.host(), node.port());
      BlockingQueue<Packet> underway = new LinkedBlockingQueue<>();
      for (Socket socket : new Socket[] {client, server}) {
        socket.setTcpNoDelay(true);
        sockets.add(socket);
      }
      start(() -> pass(client, server));
      start(() -> take(server, underway));
      start(() -> deliver(underway, client));
    }
  }

  private static void pass(Socket client, Socket server) throws IOException {
    try (client;
        server) {
      client.getInputStream().transferTo(server.getOutputStream());
    }
  }

  private void take(Socket server, BlockingQueue<Packet> underway) throws IOException {
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = server.getInputStream()) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!held) {
          byte[] reply = Arrays.copyOf(buffer, read);
          underway.add(new Packet(System.nanoTime() + lateNanos, ByteBuffer.wrap(reply)));
        }
      }
    } finally {
      underway.add(END);
    }
  }

  private static void deliver(BlockingQueue<Packet> underway, Socket client)
      throws IOException, InterruptedException {
    try (OutputStream out = client.getOutputStream()) {
      for (Packet packet = underway.take();
          packet.bytes().hasRemaining();
          packet = underway.take()) {
        TimeUnit.NANOSECONDS.sleep(packet.due() - System.nanoTime());
        out.write(packet.bytes().array());
      }
    }
  }

  /** The work of a thread until one side has gone. */
  @FunctionalInterface
  private interface Part {
    void run() throws IOException, InterruptedException;
  }

  private static void start(Part part) {
    Thread thread =
        new Thread(
            () -> {
              try {
                part.run();
              } catch (IOException e) {
                // One side has gone, and so does the other.
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "slow-proxy");
    thread.setDaemon(true);
    thread.start();
  }
}
