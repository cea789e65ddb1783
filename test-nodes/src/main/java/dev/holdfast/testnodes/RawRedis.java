package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plain connection to a server, without a library in between, as a foreign client uses it. Each
 * call is limited as a whole, by default to two seconds. After a call that was not answered in time
 * the connection is closed, because a late reply would be taken for the reply to the next call. Not
 * safe for use by several threads at once. Calls are not interruptible. The interrupt flag is kept.
 */
public final class RawRedis implements AutoCloseable {
  private static final Duration DEFAULT_LIMIT = Duration.ofSeconds(2);

  private final String address;
  private final Duration limit;
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final ByteBuffer received = ByteBuffer.allocate(16 * 1024).flip();
  private long deadline;

  private RawRedis(String address, Duration limit, SocketChannel channel, Selector selector)
      throws IOException {
    this.address = address;
    this.limit = limit;
    this.channel = channel;
    this.selector = selector;
    this.key = channel.register(selector, 0);
  }

  /**
   * Connects to a server, within two seconds. Each call may take two seconds as well.
   *
   * @throws NodeException if nothing accepts the connection in that time
   */
  public static RawRedis connect(String host, int port) {
    return connect(host, port, DEFAULT_LIMIT);
  }

  /**
   * Connects to a server.
   *
   * @param limit for connecting, and for each call as a whole
   * @throws NodeException if nothing accepts the connection in that time
   */
  public static RawRedis connect(String host, int port, Duration limit) {
    String address = host + ":" + port;
    SocketChannel channel = null;
    Selector selector = null;
    try {
      channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      selector = Selector.open();
      RawRedis connection = new RawRedis(address, limit, channel, selector);
      connection.deadline = System.nanoTime() + limit.toNanos();
      boolean connected = channel.connect(new InetSocketAddress(host, port));
      while (!connected) {
        connection.await(SelectionKey.OP_CONNECT);
        connected = channel.finishConnect();
      }
      return connection;
    } catch (IOException | UnresolvedAddressException e) {
      closeQuietly(selector);
      closeQuietly(channel);
      throw new NodeException(
          "Cannot connect to " + address + " within " + limit.toMillis() + " ms: " + e, e);
    }
  }

  /**
   * Sends one command and waits for its reply.
   *
   * @return a Long for an integer, a String (read as UTF-8) for a simple or bulk string, null, or a
   *     List of these. An error inside of a list is a {@link RedisErrorReply} element.
   * @throws RedisErrorReply if the server replied an error
   * @throws NodeException if there was no reply within the limit, or the connection broke
   */
  public @Nullable Object call(String... args) {
    deadline = System.nanoTime() + limit.toNanos();
    try {
      send(encode(args));
      Object reply = readReply();
      if (reply instanceof RedisErrorReply error) {
        throw error;
      }
      return reply;
    } catch (IOException | NumberFormatException e) {
      close();
      throw new NodeException(
          address
              + " did not answer "
              + (args.length == 0 ? "an empty command" : args[0])
              + " (limit "
              + limit.toMillis()
              + " ms): "
              + e,
          e);
    }
  }

  @Override
  public void close() {
    closeQuietly(selector);
    closeQuietly(channel);
  }

  private static byte[] encode(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(("*" + args.length + "\r\n").getBytes(UTF_8));
    for (String arg : args) {
      byte[] bytes = arg.getBytes(UTF_8);
      out.writeBytes(("$" + bytes.length + "\r\n").getBytes(UTF_8));
      out.writeBytes(bytes);
      out.writeBytes(new byte[] {'\r', '\n'});
    }
    return out.toByteArray();
  }

  private void send(byte[] request) throws IOException {
    ByteBuffer rest = ByteBuffer.wrap(request);
    while (rest.hasRemaining()) {
      if (channel.write(rest) == 0) {
        await(SelectionKey.OP_WRITE);
      }
    }
  }

  private @Nullable Object readReply() throws IOException {
    char type = (char) readByte();
    String line = readLine();
    return switch (type) {
      case '+' -> line;
      case '-' -> new RedisErrorReply(line);
      case ':' -> Long.valueOf(line);
      case '$' -> readBulk(Integer.parseInt(line));
      case '*' -> readList(Integer.parseInt(line));
      default -> throw new IOException("not a RESP2 reply: " + type + line);
    };
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = new byte[length];
    for (int read = 0; read < length; ) {
      awaitBytes();
      int count = Math.min(received.remaining(), length - read);
      received.get(bytes, read, count);
      read += count;
    }
    String end = readLine();
    if (!end.isEmpty()) {
      throw new IOException("a bulk string that is longer than it said");
    }
    return new String(bytes, UTF_8);
  }

  private @Nullable List<@Nullable Object> readList(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<@Nullable Object> list = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      list.add(readReply());
    }
    return list;
  }

  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (byte b = readByte(); b != '\r'; b = readByte()) {
      line.write(b);
    }
    byte newline = readByte();
    if (newline != '\n') {
      throw new IOException("a line that does not end in CR LF");
    }
    return line.toString(UTF_8);
  }

  private byte readByte() throws IOException {
    awaitBytes();
    return received.get();
  }

  private void awaitBytes() throws IOException {
    while (!received.hasRemaining()) {
      received.clear();
      int count = channel.read(received);
      received.flip();
      if (count < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (count == 0) {
        await(SelectionKey.OP_READ);
      }
    }
  }

  private void await(int operation) throws IOException {
    key.interestOps(operation);
    boolean interrupted = false;
    try {
      while (true) {
        long millis = (deadline - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
          throw new SocketTimeoutException("timeout");
        }
        if (selector.select(millis) > 0) {
          selector.selectedKeys().clear();
          return;
        }
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void closeQuietly(@Nullable AutoCloseable resource) {
    if (resource == null) {
      return;
    }
    try {
      resource.close();
    } catch (Exception e) {
      // The server needs nothing from us: an unclosed socket ends with the JVM.
    }
  }
}
