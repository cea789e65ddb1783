package dev.holdfast.chaos;

import dev.holdfast.testnodes.TestNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.netcrusher.core.filter.TransformFilter;
import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

/** A proxy before one node that makes the faults of its network. All clients use it. */
final class NodeNetwork implements AutoCloseable {
  private static final int NO_LIMIT = Integer.MAX_VALUE;

  private final NioReactor reactor;
  private final int port;
  private TestNode node;
  private TcpCrusher proxy;
  private volatile long requestDelayNanos;
  private volatile long replyDelayNanos;
  private volatile int bytesPerMilli = NO_LIMIT;
  private volatile boolean losesRequests;
  private volatile boolean losesReplies;
  private volatile boolean halvesReplies;

  NodeNetwork(NioReactor reactor, TestNode node) {
    this.reactor = reactor;
    this.port = freePort();
    this.node = node;
    this.proxy = proxy();
  }

  String uri() {
    return "redis://127.0.0.1:" + port;
  }

  /** All connections end. */
  void cut() {
    proxy.closeAllPairs();
  }

  /** All connections end, and there are no new ones. */
  void refuse() {
    proxy.close();
  }

  /** Connections are accepted, and nothing passes in either direction. */
  void swallow() {
    proxy.freeze();
  }

  void delay(long requestMillis, long replyMillis) {
    requestDelayNanos = TimeUnit.MILLISECONDS.toNanos(requestMillis);
    replyDelayNanos = TimeUnit.MILLISECONDS.toNanos(replyMillis);
  }

  void throttle(int atMostBytesPerMilli) {
    bytesPerMilli = atMostBytesPerMilli;
  }

  void loseRequests() {
    losesRequests = true;
  }

  void loseReplies() {
    losesReplies = true;
  }

  /** Passes the first half of each reply, and ends its connection. */
  void halveReplies() {
    halvesReplies = true;
  }

  /** Connections end, and new ones lead to this node. */
  void leadTo(TestNode other) {
    proxy.close();
    node = other;
    proxy = proxy();
  }

  /**
   * All passes again. A connection that lost something ends, because the rest would answer other
   * requests. So does one that was throttled: the bytes that the proxy has taken on it come as late
   * as was counted then, which for some kilobytes can be seconds. A proxy that was closed is made
   * again, because one that accepts a connection as it is closed cannot be opened any more.
   */
  void heal() {
    boolean unfit = losesRequests || losesReplies || halvesReplies || bytesPerMilli != NO_LIMIT;
    losesRequests = false;
    losesReplies = false;
    halvesReplies = false;
    delay(0, 0);
    throttle(NO_LIMIT);
    if (!proxy.isOpen()) {
      proxy = proxy();
    } else if (proxy.isFrozen()) {
      proxy.unfreeze();
    } else if (unfit) {
      cut();
    }
  }

  @Override
  public void close() {
    if (proxy.isOpen()) {
      proxy.close();
    }
  }

  private TcpCrusher proxy() {
    return TcpCrusherBuilder.builder()
        .withReactor(reactor)
        .withBindAddress(InetAddress.getLoopbackAddress().getHostAddress(), port)
        .withConnectAddress(node.host(), node.port())
        .withTcpNoDelay(true)
        .withOutgoingTransformFilterFactory(client -> request -> pass(request, losesRequests))
        .withIncomingTransformFilterFactory(client -> (TransformFilter) this::reply)
        .withOutgoingThrottlerFactory(client -> bytes -> delay(bytes, requestDelayNanos))
        .withIncomingThrottlerFactory(client -> bytes -> delay(bytes, replyDelayNanos))
        .buildAndOpen();
  }

  /** The library cannot choose one. */
  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long delay(ByteBuffer bytes, long nanos) {
    return bytesPerMilli == NO_LIMIT
        ? nanos
        : nanos + TimeUnit.MILLISECONDS.toNanos(bytes.remaining()) / bytesPerMilli;
  }

  private void reply(ByteBuffer bytes) {
    if (halvesReplies && bytes.remaining() > 1) {
      bytes.limit(bytes.position() + bytes.remaining() / 2);
      reactor.getScheduler().execute(this::cutIfOpen);
    }
    pass(bytes, losesReplies);
  }

  private boolean cutIfOpen() {
    if (proxy.isOpen()) {
      cut();
    }
    return true;
  }

  private static void pass(ByteBuffer bytes, boolean lose) {
    if (lose) {
      bytes.limit(bytes.position());
    }
  }
}
