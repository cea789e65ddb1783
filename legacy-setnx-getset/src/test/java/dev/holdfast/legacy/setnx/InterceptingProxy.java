package dev.holdfast.legacy.setnx;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testnodes.TestNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A proxy before one server: it notes each command, and lets a test act before a command is passed
 * on, as a faster client would.
 */
final class InterceptingProxy implements AutoCloseable {
  private static final int BACKLOG = 50;

  private final TestNode node;
  private final ServerSocket listener;
  private final List<String> commands = new CopyOnWriteArrayList<>();
  private final Map<String, Act> acts = new ConcurrentHashMap<>();
  private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** The fate of a command. */
  private enum Fate {
    PASSED,
    /** The command does not reach the server. */
    LOST,
    /** The command reaches the server, but its reply is lost. */
    UNANSWERED,
    /**
     * The command is lost for its sender, but reaches the server when its sender already knows that
     * no answer comes.
     */
    LATE
  }

  private record Act(Runnable before, Fate fate) {}

  InterceptingProxy(TestNode node) {
    this.node = node;
    try {
      listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run(this::accept);
  }

  String uri() {
    return "redis://" + address();
  }

  String address() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  /** All commands about a key, in their order, with blanks between the words. */
  List<String> commandsAbout(String key) {
    return commands.stream().filter(command -> command.contains(" " + key)).toList();
  }

  /**
   * Has something done before the next such command reaches the server. Should it fail, {@link
   * #close} fails with it.
   */
  void before(String command, Runnable act) {
    acts.put(command, new Act(act, Fate.PASSED));
  }

  /** Ends the connection instead of passing the next such command on. */
  void lose(String command) {
    acts.put(command, new Act(() -> {}, Fate.LOST));
  }

  /** Passes the next such command on, but ends the connection before its reply. */
  void loseReplyTo(String command) {
    acts.put(command, new Act(() -> {}, Fate.UNANSWERED));
  }

  /** Ends the connection, has something done, and only then passes the next such command on. */
  void passAfterTheEnd(String command, Runnable act) {
    acts.put(command, new Act(act, Fate.LATE));
  }

  @Override
  public void close() {
    closed(listener);
    clients.forEach(InterceptingProxy::closed);
    Throwable failed = failure.get();
    if (failed != null) {
      throw new AssertionError("what should have been done before a command failed", failed);
    }
  }

  /** For what must be done before a command: returns when the test lets it. */
  static void passed(CountDownLatch latch) {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new AssertionError("the test lets nothing pass");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      clients.add(client);
      run(() -> carry(client));
    }
  }

  private void carry(Socket client) throws IOException {
    try (client;
        Socket server = new Socket(node.host(), node.port())) {
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      run(
          () -> {
            server.getInputStream().transferTo(client.getOutputStream());
            client.close();
          });
      InputStream in = new BufferedInputStream(client.getInputStream());
      while (true) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String command = read(in, bytes);
        commands.add(command);
        Act act = acts.remove(command.substring(0, (command + " ").indexOf(' ')));
        if (act == null) {
          bytes.writeTo(server.getOutputStream());
          continue;
        }
        if (act.fate() == Fate.LATE) {
          client.close();
        }
        perform(act.before());
        if (act.fate() == Fate.UNANSWERED) {
          client.close();
        }
        if (act.fate() != Fate.LOST) {
          bytes.writeTo(server.getOutputStream());
        }
        if (act.fate() != Fate.PASSED) {
          server.shutdownOutput(); // the server still reads what it was sent
          return;
        }
      }
    } finally {
      clients.remove(client);
    }
  }

  /** Runs an act of the test, and keeps its failure, which no caller sees. */
  private void perform(Runnable act) throws IOException {
    try {
      act.run();
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      throw new IOException("what should have been done before a command failed", e);
    }
  }

  /** Reads an array of bulk strings, and keeps its bytes. */
  private static String read(InputStream in, ByteArrayOutputStream bytes) throws IOException {
    int words = number(line(in, bytes));
    StringBuilder command = new StringBuilder();
    for (int i = 0; i < words; i++) {
      int length = number(line(in, bytes));
      byte[] word = in.readNBytes(length + 2);
      bytes.writeBytes(word);
      command.append(i == 0 ? "" : " ").append(new String(word, 0, length, UTF_8));
    }
    return command.toString();
  }

  private static int number(String line) {
    return Integer.parseInt(line.substring(1));
  }

  private static String line(InputStream in, ByteArrayOutputStream bytes) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      bytes.write(c);
      if (c != '\r') {
        line.append((char) c);
      }
    }
    bytes.write('\n');
    return line.toString();
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

  private static void run(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException ended) {
                // and so does the thread: connections that break are what this class is for
              }
            },
            "proxy");
    thread.setDaemon(true);
    thread.start();
  }
}
