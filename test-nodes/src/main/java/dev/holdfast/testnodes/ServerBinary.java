package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A redis-server or valkey-server that runs on this machine, shown by having asked its version. */
record ServerBinary(Path path, String version) {
  static final String WHAT_ELSE_WOULD_SERVE =
      String.format(
          "Alternatives: the embedded redis-server (-D%1$s=embedded), a redis-server on the PATH"
              + " (-D%1$s=path), any redis-server or valkey-server 6.2 or later (-D%1$s=FILE), or,"
              + " where there is Docker, a container (-D%1$s=docker, with %2$s on the class path).",
          NodeSource.PROPERTY, ContainerSource.LIBRARY);

  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Duration BUSY_LIMIT = Duration.ofSeconds(2);
  private static final PerFile<ServerBinary> PROBED = new PerFile<>();
  private static final Pattern LIBRARY = Pattern.compile("[\\w.+-]+\\.(so[.\\d]*|dylib)");

  /**
   * Runs it with {@code --version}, once for each state of the file.
   *
   * @throws NodeException if it does not run, saying why, and what else would serve
   */
  static ServerBinary probe(Path path) {
    if (!Files.isRegularFile(path)) {
      throw cannotRun(path, "there is no such file", null);
    }
    try {
      return PROBED.get(path, () -> run(path));
    } catch (IOException e) {
      throw cannotRun(path, String.valueOf(e.getMessage()), e);
    }
  }

  private static ServerBinary run(Path path) throws IOException {
    String output = versionOutput(path);
    Matcher matcher = Redis.version(output);
    if (!matcher.find()) {
      throw cannotRun(path, "it is no redis-server; --version printed: " + firstLine(output), null);
    }
    return new ServerBinary(path, matcher.group(1));
  }

  private static String versionOutput(Path path) throws IOException {
    Process process = start(path);
    process.getOutputStream().close();
    if (!Waiting.until(LIMIT, () -> !process.isAlive())) {
      process.destroyForcibly();
      throw cannotRun(path, "--version did not end within " + LIMIT.toSeconds() + " s", null);
    }
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.exitValue() != 0) {
      throw cannotRun(
          path, "it ended with code " + process.exitValue() + ": " + output.strip(), null);
    }
    return output;
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("nothing");
  }

  private static Process start(Path path) throws IOException {
    long giveUp = System.nanoTime() + BUSY_LIMIT.toNanos();
    while (true) {
      try {
        return new ProcessBuilder(path.toString(), "--version").redirectErrorStream(true).start();
      } catch (IOException e) {
        // While the file was written, another thread's child may have inherited the descriptor.
        boolean busy = String.valueOf(e.getMessage()).contains("Text file busy");
        if (!busy || System.nanoTime() - giveUp >= 0) {
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }

  static NodeException cannotRun(Path path, String why, @Nullable Throwable cause) {
    return new NodeException(
        "Cannot run the redis-server " + path + ": " + why + "." + advice(path, why), cause);
  }

  private static String advice(Path path, String why) {
    StringBuilder advice = new StringBuilder();
    Matcher library = LIBRARY.matcher(why.replace(path.toString(), ""));
    if (library.find()) {
      String name = library.group();
      advice.append(" The shared library ").append(name).append(" is missing.");
      if (name.startsWith("libssl") || name.startsWith("libcrypto")) {
        advice.append(" Install OpenSSL (Debian and Ubuntu: apt-get install libssl3).");
      }
    } else if (Files.exists(path) && why.contains("No such file")) {
      advice.append(" The file is there, so its loader is not: it was built for another libc.");
    } else if (why.contains("Permission denied")) {
      advice.append(" The file must be executable, on a file system not mounted noexec.");
    }
    return advice.append(' ').append(WHAT_ELSE_WOULD_SERVE).toString();
  }
}
