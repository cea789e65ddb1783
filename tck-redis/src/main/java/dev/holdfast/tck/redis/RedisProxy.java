package dev.holdfast.tck.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.tck.env.TckLink;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Stands before a node, and reads each request before it passes it on. */
final class RedisProxy implements TckLink {
  private static final int BACKLOG = 50;

  private final RedisNodeUri node;
  private final String keyPrefix;
  private final ServerSocket listener;
  private final Set<Relay> relays = ConcurrentHashMap.newKeySet();
  private final Object lock = new Object();
  private final List<RespRequest> seen = new ArrayList<>();
  private final Map<String, Turn> turns = new HashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private volatile boolean isCut;
  private volatile @Nullable String error;

  /** When something becomes of the requests about a key. */
  private record Turn(int passing, Fate fate) {}

  private RedisProxy(RedisNodeUri node, String keyPrefix) {
    this.node = node;
    this.keyPrefix = keyPrefix;
    try {
      listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Listens from now on. */
  static RedisProxy before(RedisNodeUri node, String keyPrefix) {
    RedisProxy proxy = new RedisProxy(node, keyPrefix);
    run("accept", proxy::accept);
    return proxy;
  }

  @Override
  public String uri() {
    return node.withServer(listener.getInetAddress().getHostAddress(), listener.getLocalPort())
        .text();
  }

  @Override
  public void after(String name, int passing, Fate fate) {
    synchronized (lock) {
      turns.put(keyPrefix + name, new Turn(passing, fate));
    }
  }

  @Override
  public List<String> requests(String name) {
    synchronized (lock) {
      return seen.stream()
          .filter(request -> request.isAbout(keyPrefix + name))
          .map(RespRequest::text)
          .toList();
    }
  }

  @Override
  public OptionalInt connections() {
    return OptionalInt.of(connections.get());
  }

  @Override
  public void refuse(String text) {
    error = text;
  }

  @Override
  public void cut() {
    isCut = true;
    relays.forEach(Relay::cut);
  }

  @Override
  public void reset() {
    isCut = true;
    relays.forEach(Relay::reset);
  }

  /**
   * Ends all faults. Closes each connection that lost a request, because its replies would answer
   * other requests.
   */
  @Override
  public void mend() {
    synchronized (lock) {
      turns.clear();
    }
    isCut = false;
    error = null;
    relays.forEach(Relay::sendLate);
    relays.stream().filter(relay -> relay.loses).forEach(Relay::close);
  }

  @Override
  public void close() {
    cut();
    closed(listener);
  }

  private void accept() throws IOException {
    while (true) {
      Relay relay = new Relay(listener.accept());
      connections.incrementAndGet();
      relays.add(relay);
      if (isCut) {
        relay.close();
      }
      run("requests", relay::carryRequests);
    }
  }

  /** Notes a request, and returns its fate, or empty if it passes. */
  private Optional<Fate> fateOf(RespRequest request) {
    synchronized (lock) {
      seen.add(request);
      Iterator<Map.Entry<String, Turn>> all = turns.entrySet().iterator();
      while (all.hasNext()) {
        Map.Entry<String, Turn> next = all.next();
        Turn turn = next.getValue();
        if (request.isAbout(next.getKey())) {
          if (turn.passing == 0) {
            if (turn.fate == Fate.LATE) {
              all.remove(); // other connections pass
            }
            return Optional.of(turn.fate);
          }
          next.setValue(new Turn(turn.passing - 1, turn.fate));
        }
      }
      return Optional.empty();
    }
  }

  /** One connection of a manager, and that to the node which belongs to it. */
  private final class Relay {
    private final Socket client;
    private final Socket server = new Socket();

    /** True if the proxy loses requests. All requests after a lost one are lost, too. */
    private volatile boolean loses;

    /** Late requests and all that follow them on this connection. Guarded by this. */
    private final List<RespRequest> late = new ArrayList<>();

    Relay(Socket client) {
      this.client = client;
    }

    void close() {
      closed(client);
    }

    void cut() {
      close();
      forgetLate();
    }

    void reset() {
      try {
        client.setSoLinger(true, 0); // closing then sends a reset
      } catch (SocketException e) {
        // it is closed already
      }
      cut();
    }

    /**
     * Sends the late requests to the node. If the node accepts no more, because it may have died
     * meanwhile, the rest is dropped.
     */
    synchronized void sendLate() {
      try {
        for (RespRequest request : late) {
          request.writeTo(server.getOutputStream());
        }
      } catch (IOException ended) {
        close();
      }
      forgetLate();
    }

    private synchronized void forgetLate() {
      late.clear();
      notifyAll();
    }

    /**
     * Waits until the late requests are sent. A connection that a client has ended still brings the
     * requests that were sent on it.
     */
    private synchronized void awaitLate() {
      boolean interrupted = false;
      while (!late.isEmpty()) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    void carryRequests() throws IOException {
      try (client) {
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        server.connect(new InetSocketAddress(node.host(), node.port()));
        run("replies", this::carryReplies);
        InputStream in = new BufferedInputStream(client.getInputStream());
        while (carry(RespRequest.read(in))) {
          // until the connection ends
        }
      } finally {
        awaitLate();
        if (server.isConnected()) {
          server.shutdownOutput(); // the node still reads what it was sent
        }
        relays.remove(this);
      }
    }

    /** Returns false if the connection is to end. */
    private boolean carry(RespRequest request) throws IOException {
      if (client.isClosed()) {
        return false; // a thread that reads may get what comes after that
      }
      Optional<Fate> fate = fateOf(request);
      String refusal = error;
      if (refusal != null) {
        client.getOutputStream().write(("-" + refusal + "\r\n").getBytes(UTF_8));
        return true;
      }
      loses |= fate.equals(Optional.of(Fate.LOST));
      if (fate.equals(Optional.of(Fate.CUT))) {
        return false;
      }
      if (fate.equals(Optional.of(Fate.REPLY_CUT))) {
        close(); // first, so that no reply can pass
      }
      if (!loses) {
        pass(request, fate.equals(Optional.of(Fate.LATE)));
      }
      return !client.isClosed();
    }

    private synchronized void pass(RespRequest request, boolean isLate) throws IOException {
      if (isLate || !late.isEmpty()) {
        late.add(request);
      } else {
        request.writeTo(server.getOutputStream());
      }
    }

    private void carryReplies() throws IOException {
      try (client;
          server) {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          if (!client.isClosed()) {
            out.write(buffer, 0, n);
          }
        }
      }
    }
  }

  private static void closed(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception e) {
      throw new IllegalStateException("a socket does not close", e);
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
                // and so does the thread: connections that break are what this class is for
              }
            },
            "holdfast-tck-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }
}
