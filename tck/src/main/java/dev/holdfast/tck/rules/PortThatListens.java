package dev.holdfast.tck.rules;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/**
 * A port of this machine where no Redis listens: it notes how a client begins, and closes the
 * connection.
 */
final class PortThatListens implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 2_000;

  /** The first two bytes of TLS 1.0 to 1.3 (RFC 8446, section 5.1): a handshake, version 3.x. */
  private static final byte[] HANDSHAKE = {22, 3};

  /** The beginning of a client's connection. */
  enum Greeting {
    IN_THE_CLEAR,
    BY_TLS,
    TRUSTS_ANY_CERTIFICATE,
    SENDS_NO_DATA
  }

  private interface Reader {
    Greeting read(Socket client) throws IOException;
  }

  private final ServerSocket server;
  private final Queue<Greeting> greetings = new ConcurrentLinkedQueue<>();

  private PortThatListens(Reader reader) {
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread thread = new Thread(() -> listen(reader), "tck-port");
    thread.setDaemon(true);
    thread.start();
  }

  /** Listens, and says nothing. */
  static PortThatListens silent() {
    return new PortThatListens(PortThatListens::firstBytes);
  }

  /** Shows its certificate. */
  static PortThatListens untrusted() {
    return new PortThatListens(client -> handshake(TestCertificate.UNTRUSTED.ofServer(), client));
  }

  String uri(String scheme) {
    return scheme + "://127.0.0.1:" + server.getLocalPort();
  }

  /** Returns what clients that sent anything began with. */
  List<Greeting> greetings() {
    return List.copyOf(greetings);
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      IgnoredFailures.add(e);
    }
  }

  private void listen(Reader reader) {
    while (!server.isClosed()) {
      try (Socket client = server.accept()) {
        client.setSoTimeout(PATIENCE_MILLIS);
        greetings.add(reader.read(client));
      } catch (IOException e) {
        IgnoredFailures.add(e); // closed, or a client that sent nothing
      }
    }
  }

  private static Greeting firstBytes(Socket client) throws IOException {
    InputStream in = client.getInputStream();
    byte[] first = in.readNBytes(HANDSHAKE.length);
    if (first.length == 0) {
      throw new IOException("the client sent nothing");
    }
    return Arrays.equals(first, HANDSHAKE) ? Greeting.BY_TLS : Greeting.IN_THE_CLEAR;
  }

  private static Greeting handshake(SSLContext context, Socket client) throws IOException {
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(client, null, client.getPort(), true)) {
      socket.setUseClientMode(false);
      socket.startHandshake();
      // With TLS 1.2 a client may end its part, and refuse by what it sends next.
      return socket.getInputStream().read() >= 0
          ? Greeting.TRUSTS_ANY_CERTIFICATE
          : Greeting.SENDS_NO_DATA;
    } catch (SSLException refused) {
      return Greeting.SENDS_NO_DATA;
    }
  }
}
