package dev.holdfast.it;

import dev.holdfast.testnodes.TestNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands between a manager and one node, and decides the fate of each command. */
final class Proxy implements AutoCloseable {
  /** What becomes of a command. */
  enum Fate {
    /** It reaches the node, and its reply the client. */
    PASS,
    /** It reaches nobody; the connection stays. */
    LOSE,
    /** It reaches nobody, and the connection ends. */
    CUT,
    /** The node carries it out, but the connection to the client ends before the reply. */
    PASS_AND_CUT
  }

  private final TestNode node;
  private final ServerSocket listener;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile String fated = "";
  private volatile Fate fate = Fate.PASS;
  private final List<String> seen = new CopyOnWriteArrayList<>();
  private volatile boolean refusing;

  private Proxy(TestNode node) {
    this.node = node;
    try {
      this.listener = new ServerSocket(0, 50, InetAddress.getByName(node.host()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Proxy before(TestNode node) {
    Proxy proxy = new Proxy(node);
    run("proxy-accept", proxy::accept);
    return proxy;
  }

  String uri() {
    return "redis://" + node.host() + ":" + listener.getLocalPort();
  }

  /** Decides the fate of commands that begin like this; all others pass. */
  void on(String beginning, Fate decided) {
    fated = beginning;
    fate = decided;
  }

  /** How often the client sent a command that begins like this, whatever became of it. */
  long seen(String beginning) {
    return seen.stream().filter(command -> command.startsWith(beginning)).count();
  }

  /** Ends all connections, and each new one at once. */
  void cut() {
    refusing = true;
    open.forEach(Proxy::close);
  }

  /** Lets everything through again. */
  void mend() {
    fate = Fate.PASS;
    refusing = false;
  }

  @Override
  public void close() {
    cut();
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      if (refusing) {
        close(client);
        continue;
      }
      Socket server = new Socket(node.host(), node.port());
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      open.add(client);
      open.add(server);
      run("proxy-commands", () -> commands(client, server));
      run("proxy-replies", () -> replies(server, client));
    }
  }

  private void commands(Socket client, Socket server) throws IOException {
    try {
      InputStream in = new BufferedInputStream(client.getInputStream());
      OutputStream out = server.getOutputStream();
      while (true) {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        String command = readCommand(in, raw);
        seen.add(command);
        switch (command.startsWith(fated) ? fate : Fate.PASS) {
          case PASS -> out.write(raw.toByteArray());
          case LOSE -> {}
          case CUT -> {
            return;
          }
          case PASS_AND_CUT -> {
            close(client); // first, so that no reply can reach it
            out.write(raw.toByteArray());
            return;
          }
        }
      }
    } finally {
      close(client);
      server.shutdownOutput(); // the node still reads what it was sent
    }
  }

  private void replies(Socket server, Socket client) throws IOException {
    try {
      InputStream in = server.getInputStream();
      byte[] buffer = new byte[8192];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!client.isClosed()) {
          client.getOutputStream().write(buffer, 0, n);
        }
      }
    } finally {
      close(client);
      close(server);
      open.remove(client);
      open.remove(server);
    }
  }

  private static String readCommand(InputStream in, ByteArrayOutputStream raw) throws IOException {
    StringBuilder words = new StringBuilder();
    int count = Integer.parseInt(readLine(in, raw).substring(1));
    for (int i = 0; i < count; i++) {
      int length = Integer.parseInt(readLine(in, raw).substring(1));
      byte[] word = in.readNBytes(length + 2);
      raw.write(word);
      words.append(i == 0 ? "" : " ").append(new String(word, 0, length, StandardCharsets.UTF_8));
    }
    return words.toString();
  }

  private static String readLine(InputStream in, ByteArrayOutputStream raw) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      raw.write(c);
      line.append((char) c);
    }
    raw.write('\n');
    return line.toString().strip();
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  /** A connection that breaks is what this class is for: the thread ends with it. */
  private static void run(String name, Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException ended) {
                Thread.currentThread().interrupt();
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }
}
