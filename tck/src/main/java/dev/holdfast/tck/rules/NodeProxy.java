package dev.holdfast.tck.rules;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** A proxy before one node, which can speak TLS in its place, or pass its replies on in pieces. */
final class NodeProxy implements AutoCloseable {
  /** The host of each proxy, by its address. */
  static final String LOCAL = "127.0.0.1";

  /** First byte of TLS 1.0 to 1.3 (RFC 8446, section 5.1). No request of Redis begins with it. */
  private static final int HANDSHAKE = 22;

  /** Part of the JDK's message when a client shows no certificate. */
  private static final String NO_CERTIFICATE = "Empty client certificate chain";

  /** Numbers of bytes that are sent at once. They divide replies at each place sooner or later. */
  private static final int[] PIECES = {1, 2, 1, 3, 1, 5};

  /**
   * Bytes after which pieces are larger: more than any reply to a lock's commands has. All of INFO
   * in the smallest pieces takes seconds where the machine is busy.
   */
  private static final int IN_SMALL_PIECES = 512;

  /** The factor by which those pieces are larger. */
  private static final int LARGER = 64;

  /** Long enough for a client to read a piece before the next one comes. */
  private static final long PAUSE_NANOS = 20_000;

  private static final int BUFFER = 8_192;

  /** The kind of a connection. */
  enum Seen {
    /** The client has sent data in the clear. */
    IN_THE_CLEAR,
    /** The client has refused the certificate, or has given up. */
    REFUSED,
    /** The client had to show a certificate and did not. */
    WITHOUT_CERTIFICATE,
    /** The client has sent data by TLS. */
    BY_TLS
  }

  private final URI node;
  private final ServerSocket listener;
  private final Queue<Seen> seen = new ConcurrentLinkedQueue<>();
  private final boolean inPieces;

  /** The open connections, the oldest first. */
  private final List<Socket> clients = new CopyOnWriteArrayList<>();

  /** Null if no TLS is spoken. */
  private volatile @Nullable SSLContext context;

  private volatile boolean needsCertificate;

  private NodeProxy(URI node, boolean inPieces, @Nullable SSLContext context) {
    this.node = node;
    this.inPieces = inPieces;
    this.context = context;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run("accept", this::accept);
  }

  /** Makes a proxy before each node that speaks TLS. The proxies are closed at the end. */
  static List<NodeProxy> byTls(TckFixture fixture, SSLContext context) {
    return beforeAll(fixture, false, context);
  }

  /**
   * Makes a proxy before each node that passes replies on in pieces of a few bytes. The proxies are
   * closed at the end.
   */
  static List<NodeProxy> inPieces(TckFixture fixture) {
    return beforeAll(fixture, true, null);
  }

  /** Makes a proxy before each node that passes all on as it comes. Closed at the end. */
  static List<NodeProxy> plain(TckFixture fixture) {
    return beforeAll(fixture, false, null);
  }

  private static List<NodeProxy> beforeAll(
      TckFixture fixture, boolean inPieces, @Nullable SSLContext context) {
    List<NodeProxy> proxies = new ArrayList<>();
    for (String uri : Needs.plainUris(fixture)) {
      NodeProxy proxy = new NodeProxy(URI.create(uri), inPieces, context);
      fixture.atEnd(proxy::close);
      proxies.add(proxy);
    }
    return proxies;
  }

  /** Returns the URIs of proxies, in their order. */
  static List<String> uris(List<NodeProxy> proxies, String host) {
    return proxies.stream().map(proxy -> proxy.uri(host)).toList();
  }

  /** Returns the node's URI with the proxy's scheme and port in it. */
  private String uri(String host) {
    String scheme = context == null ? "redis" : "rediss";
    String login = node.getRawUserInfo() == null ? "" : node.getRawUserInfo() + "@";
    return scheme + "://" + login + host + ":" + listener.getLocalPort() + node.getRawPath();
  }

  /** Shows another certificate to those who connect from now on. */
  void show(SSLContext other) {
    context = other;
  }

  /** Requires a certificate of those who connect from now on. */
  void needCertificates() {
    needsCertificate = true;
  }

  /** Returns what became of each connection. */
  List<Seen> seen() {
    return List.copyOf(seen);
  }

  /** Ends all connections. */
  void cut() {
    clients.forEach(NodeProxy::close);
  }

  /** Ends all connections but the oldest. */
  void cutAllButTheOldest() {
    clients.stream().skip(1).forEach(NodeProxy::close);
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      IgnoredFailures.add(e);
    }
    cut();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      clients.add(client);
      run("requests", () -> serve(client));
    }
  }

  private void serve(Socket client) throws IOException {
    try (client;
        Socket server = new Socket()) {
      client.setTcpNoDelay(true);
      SSLContext tls = context;
      Socket spoken = tls == null ? client : secured(client, tls);
      if (spoken == null) {
        return;
      }
      server.connect(new InetSocketAddress(node.getHost(), node.getPort()));
      server.setTcpNoDelay(true);
      run("replies", () -> passReplies(server, spoken));
      passRequests(spoken, server, tls != null);
    } finally {
      clients.remove(client);
    }
  }

  /** Returns the connection after the handshake, or null if there was none. */
  private @Nullable Socket secured(Socket client, SSLContext tls) throws IOException {
    int first = client.getInputStream().read();
    if (first != HANDSHAKE) {
      if (first >= 0) {
        seen.add(Seen.IN_THE_CLEAR);
      }
      return null;
    }
    InputStream read = new ByteArrayInputStream(new byte[] {(byte) first});
    SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(client, read, true);
    socket.setNeedClientAuth(needsCertificate);
    try {
      socket.startHandshake();
    } catch (IOException refused) {
      seen.add(
          String.valueOf(refused.getMessage()).contains(NO_CERTIFICATE)
              ? Seen.WITHOUT_CERTIFICATE
              : Seen.REFUSED);
      return null;
    }
    return socket;
  }

  private void passRequests(Socket from, Socket to, boolean isTls) throws IOException {
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    byte[] buffer = new byte[BUFFER];
    boolean isFirst = isTls;
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      if (isFirst) {
        seen.add(Seen.BY_TLS);
        isFirst = false;
      }
      out.write(buffer, 0, n);
    }
  }

  private void passReplies(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[BUFFER];
      int piece = 0;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!inPieces) {
          out.write(buffer, 0, n);
          continue;
        }
        for (int at = 0; at < n; ) {
          int times = at < IN_SMALL_PIECES ? 1 : LARGER;
          int size = Math.min(n - at, times * PIECES[piece++ % PIECES.length]);
          out.write(buffer, at, size);
          at += size;
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      IgnoredFailures.add(e);
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void run(String name, Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException ended) {
                // and so does the thread
              }
            },
            "tck-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }
}
