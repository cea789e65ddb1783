package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One server as a process with a folder of its own.
 *
 * <p>It is always started with {@code daemonize yes}: in a session of its own, where a terminal's
 * Ctrl-C does not reach it, and with the pid in a file, so that any process that knows the folder
 * can go on where another left off. All that is known of the process is read from there and from
 * the operating system, nothing is kept in memory.
 */
final class ServerProcess implements Server {
  static final String PID_FILE = "redis.pid";
  private static final String CONF_FILE = "redis.conf";
  static final String LOG_FILE = "redis.log";
  private static final String OUTPUT_FILE = "redis.out";

  private static final Duration LAUNCH_LIMIT = Duration.ofSeconds(10);

  private static final Duration KILL_LIMIT = Duration.ofSeconds(5);
  private static final Duration PORT_LIMIT = Duration.ofMillis(500);
  private static final Pattern STARTED_PID = Pattern.compile("pid=(\\d+), just started");
  private static final Pattern PORT_TAKEN =
      Pattern.compile("Address already in use|Failed listening on port");

  private final Path folder;
  private final Path binary;
  private final int port;

  private ServerProcess(Path folder, Path binary, int port) {
    this.folder = folder;
    this.binary = binary;
    this.port = port;
  }

  /** Returns the server with this index under a directory. */
  static ServerProcess in(Path directory, ServerBinary binary, int index, int port) {
    return new ServerProcess(directory.resolve("node-" + index), binary.path(), port);
  }

  /** Returns a place for servers under a directory, each with a folder of its own. */
  static Launch.Place<ServerProcess> place(
      Path directory, ServerBinary binary, List<String> config) {
    ServerConfig serverConfig = new ServerConfig(binary.version(), config);
    return (index, port) -> {
      ServerProcess server = in(directory, binary, index, port);
      server.prepare(serverConfig);
      return server;
    };
  }

  @Override
  public String host() {
    return Ports.HOST;
  }

  @Override
  public int port() {
    return port;
  }

  /** Makes the folder, empty except for the configuration. */
  private void prepare(ServerConfig config) {
    try {
      Files.createDirectories(folder);
      deleteData();
      Files.writeString(folder.resolve(CONF_FILE), config.text(ownLines()), UTF_8);
    } catch (IOException e) {
      throw new NodeException("Cannot write the configuration of " + address() + ": " + e, e);
    }
  }

  @Override
  public boolean isPrepared() {
    return Files.exists(folder.resolve(CONF_FILE));
  }

  @Override
  public void launch() {
    Path output = folder.resolve(OUTPUT_FILE);
    try {
      Files.deleteIfExists(folder.resolve(PID_FILE));
      Files.deleteIfExists(folder.resolve(LOG_FILE));
      Process launcher =
          new ProcessBuilder(binary.toString(), folder.resolve(CONF_FILE).toString())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      launcher.getOutputStream().close();
      if (!Waiting.until(LAUNCH_LIMIT, () -> !launcher.isAlive())) {
        launcher.destroyForcibly();
        throw notStarted("the process did not go to the background");
      }
      if (launcher.exitValue() != 0) {
        throw notStarted("it ended with code " + launcher.exitValue());
      }
    } catch (IOException e) {
      throw ServerBinary.cannotRun(binary, String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public boolean awaitReady(Duration limit) {
    boolean[] ended = {false};
    boolean settled =
        Waiting.until(
            limit,
            () -> {
              OptionalLong pid = writtenPid();
              // not isGone(): a server that is just changing its title looks like a stranger
              ended[0] = pid.isPresent() && OsProcess.find(pid.getAsLong()).isEmpty();
              return ended[0] || (pid.isPresent() && Redis.answers(host(), port, pid.getAsLong()));
            });
    if (!settled) {
      throw notStarted("no answer within " + limit.toSeconds() + " s");
    }
    if (ended[0] && !PORT_TAKEN.matcher(output()).find()) {
      throw notStarted("it ended");
    }
    return !ended[0];
  }

  @Override
  public TestNode.State state() {
    return find()
        .map(process -> process.isStopped() ? TestNode.State.FROZEN : TestNode.State.UP)
        .orElse(TestNode.State.DOWN);
  }

  @Override
  public OptionalLong pid() {
    return find().stream().mapToLong(OsProcess::pid).findAny();
  }

  @Override
  public void freeze() {
    find().ifPresent(process -> process.signal("STOP"));
  }

  @Override
  public void thaw() {
    find().ifPresent(process -> process.signal("CONT"));
  }

  /**
   * Returns the process if it exists and is still this server. Another process may have been given
   * its pid.
   */
  private Optional<OsProcess> find() {
    OptionalLong pid = writtenPid();
    return pid.isEmpty() ? Optional.empty() : OsProcess.find(pid.getAsLong()).filter(this::isOurs);
  }

  @Override
  public void sendKill() {
    find().ifPresent(OsProcess::kill);
  }

  @Override
  public void awaitGone() {
    if (!Waiting.until(KILL_LIMIT, this::isGone)) {
      throw new NodeException(
          address() + " is still there " + KILL_LIMIT.toSeconds() + " s after SIGKILL");
    }
    // Linux may release the port slightly later. After the limit, another process has it.
    Waiting.until(PORT_LIMIT, () -> Ports.isFree(port));
    try {
      Files.deleteIfExists(folder.resolve(PID_FILE));
    } catch (IOException e) {
      throw new NodeException("Cannot forget the pid of " + address() + ": " + e, e);
    }
  }

  private boolean isGone() {
    OptionalLong pid = writtenPid();
    return pid.isEmpty()
        || OsProcess.find(pid.getAsLong())
            .filter(process -> isOurs(process) || process.isEnding())
            .isEmpty();
  }

  @Override
  public boolean hasData() {
    try (Stream<Path> files = Files.list(folder)) {
      return files.anyMatch(ServerProcess::isData);
    } catch (IOException e) {
      throw new NodeException("Cannot read the folder of " + address() + ": " + e, e);
    }
  }

  @Override
  public void deleteData() {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(ServerProcess::isData).toList()) {
        Folders.delete(file);
      }
    } catch (IOException e) {
      throw new NodeException("Cannot delete the data of " + address() + ": " + e, e);
    }
  }

  void deleteFolder() {
    try {
      Folders.delete(folder);
    } catch (IOException e) {
      throw new NodeException("Cannot delete the folder of " + address() + ": " + e, e);
    }
  }

  /**
   * Returns the process id in Redis's own file or, before there is one, in the first lines of the
   * log.
   */
  private OptionalLong writtenPid() {
    String text = read(PID_FILE).strip();
    if (text.isEmpty()) {
      Matcher started = STARTED_PID.matcher(read(LOG_FILE));
      text = started.find() ? started.group(1) : "";
    }
    return text.matches("\\d{1,18}") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
  }

  /**
   * Returns whether a process is this server. Redis shows its address as its command line. Until
   * then the command line contains the file that it was given.
   */
  private boolean isOurs(OsProcess process) {
    String commandLine = process.commandLine() + " ";
    return commandLine.contains(" " + address() + " ")
        || commandLine.contains(folder.resolve(CONF_FILE).toString());
  }

  private List<String> ownLines() {
    return List.of(
        "bind " + Ports.HOST,
        "port " + port,
        "daemonize yes",
        "dir " + quoted(folder),
        "pidfile " + quoted(folder.resolve(PID_FILE)),
        "logfile " + quoted(folder.resolve(LOG_FILE)));
  }

  private static String quoted(Path path) {
    return '"' + path.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private NodeException notStarted(String why) {
    String output = Redis.withoutSecrets(output());
    return new NodeException(
        "The node "
            + address()
            + " did not start: "
            + why
            + ". It was started as "
            + binary
            + " and printed: "
            + (output.isEmpty() ? "(nothing)" : output));
  }

  private String output() {
    return read(OUTPUT_FILE) + read(LOG_FILE);
  }

  private String read(String file) {
    try {
      return Files.readString(folder.resolve(file), UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  private static boolean isData(Path file) {
    return Redis.isData(file.getFileName().toString());
  }
}
