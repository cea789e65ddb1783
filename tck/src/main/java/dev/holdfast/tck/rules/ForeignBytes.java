package dev.holdfast.tck.rules;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;

/** Locks of clients whose tokens are bytes, and no text in any encoding. */
final class ForeignBytes {
  /** A byte that UTF-8 never has, a NUL, an end of a line, and a character that is cut off. */
  private static final byte[] TOKEN = {(byte) 0xff, 0, '\r', '\n', 'x', (byte) 0xe2, (byte) 0x82};

  private static final int PATIENCE_MILLIS = 5_000;

  private ForeignBytes() {}

  /** Takes a lock on all nodes. Leaves the test out where that is not seen on them. */
  static void occupy(TckFixture fixture, String name, Duration ttl) {
    for (String uri : Needs.plainUris(fixture)) {
      URI node = URI.create(uri);
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(node.getHost(), node.getPort()), PATIENCE_MILLIS);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.getOutputStream().write(set(name, ttl));
        if (socket.getInputStream().read() != '+') {
          abort("the nodes take no commands from clients that do not log in");
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    if (fixture.nodes().stream().anyMatch(node -> node.holder(name).isEmpty())) {
      abort("the keys of these nodes are not the names of the locks");
    }
  }

  /** Returns the command as RESP has it, an array of bulk strings. */
  private static byte[] set(String name, Duration ttl) throws IOException {
    ByteArrayOutputStream command = new ByteArrayOutputStream();
    command.write("*5\r\n".getBytes(US_ASCII));
    String millis = Long.toString(ttl.toMillis());
    for (byte[] word :
        new byte[][] {
          "SET".getBytes(US_ASCII),
          name.getBytes(UTF_8),
          TOKEN,
          "PX".getBytes(US_ASCII),
          millis.getBytes(US_ASCII)
        }) {
      command.write(("$" + word.length + "\r\n").getBytes(US_ASCII));
      command.write(word);
      command.write("\r\n".getBytes(US_ASCII));
    }
    return command.toByteArray();
  }
}
