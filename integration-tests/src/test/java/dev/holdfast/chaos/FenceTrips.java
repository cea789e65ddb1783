package dev.holdfast.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testnodes.TestNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts the grants for which nodes were asked a second time, to store the fencing token: by what
 * MONITOR shows of each script that names the counter. The one that takes the lock names the
 * restart guard, too, and the one that stores a token does not.
 */
final class FenceTrips implements AutoCloseable {
  /** The token of the lock is the first argument after the keys. */
  private static final Pattern SCRIPT =
      Pattern.compile(
          "] \"EVAL(?:SHA)?\" .*?\"holdfast:fence:[^\"]*\" (\"holdfast:guard\" )?\"([^\"]*)\"",
          Pattern.CASE_INSENSITIVE);

  private final Set<String> first = ConcurrentHashMap.newKeySet();
  private final Set<String> second = ConcurrentHashMap.newKeySet();
  private final List<Socket> sockets = new ArrayList<>();

  FenceTrips(List<TestNode> nodes) throws IOException {
    for (TestNode node : nodes) {
      Socket socket = new Socket(node.host(), node.port());
      sockets.add(socket);
      socket.getOutputStream().write("MONITOR\r\n".getBytes(UTF_8));
      Thread thread = new Thread(() -> listen(socket), "monitor of " + node);
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Attempts that were seen. */
  Set<String> attempts() {
    return first;
  }

  /** Returns the attempts with a second trip. */
  Set<String> stored() {
    return second;
  }

  private void listen(Socket socket) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher script = SCRIPT.matcher(line);
        if (script.find()) {
          (script.group(1) == null ? second : first).add(script.group(2));
        }
      }
    } catch (IOException e) {
      if (!socket.isClosed()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
