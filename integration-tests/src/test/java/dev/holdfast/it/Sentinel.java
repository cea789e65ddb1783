package dev.holdfast.it;

import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A Redis Sentinel that watches a node, run by the node's own executable. */
final class Sentinel implements AutoCloseable {
  private final Process process;
  private final int port;

  private Sentinel(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts it.
   *
   * @param folder for its configuration and its log
   */
  static Sentinel over(TestNode master, Path folder) throws IOException {
    int port = freePort();
    Path config = folder.resolve("sentinel.conf");
    Files.write(
        config,
        List.of(
            "port " + port,
            "dir " + folder,
            "sentinel monitor orders " + master.host() + " " + master.port() + " 1"));
    Process process =
        new ProcessBuilder(executableOf(master), config.toString(), "--sentinel")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sentinel.log").toFile())
            .start();
    Sentinel sentinel = new Sentinel(process, port);
    Eventually.soon().ignoreExceptions().until(sentinel::answers);
    return sentinel;
  }

  /** A packaged redis-server is a link to redis-check-rdb, which looks at the name it is run by. */
  private static String executableOf(TestNode master) {
    String source = System.getProperty(NodeSource.PROPERTY, "");
    if (source.equals("path")) {
      return "redis-server";
    }
    return source.startsWith("/")
        ? source
        : ProcessHandle.of(master.pid()).orElseThrow().info().command().orElseThrow();
  }

  String address() {
    return "127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private boolean answers() {
    try (RawRedis connection = RawRedis.connect("127.0.0.1", port)) {
      return "PONG".equals(connection.call("PING"));
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
