package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;

/**
 * A shell that waits for this JVM to end, however it ends, and then kills the servers under a
 * folder. The JVM holds the other end of its standard input, which the system closes even when the
 * JVM is killed with SIGKILL and no shutdown hook runs.
 */
final class Watchdog {
  private static final String DISARM = "disarm";

  /**
   * The command line is compared because a pid may belong to another process by then. The second
   * pass is for a server that had not written its pid yet.
   */
  private static final String SCRIPT =
      """
      trap '' INT HUP TERM
      read -r word
      [ "$word" = disarm ] && exit 0
      for pass in first second; do
        for file in "$0"/node-*/redis.pid; do
          pid=$(cat "$file") || continue
          port=$(sed -n 's/^port //p' "${file%redis.pid}redis.conf")
          { tr '\\0' ' ' < "/proc/$pid/cmdline" || ps -o command= -p "$pid"; } |
            grep -Eq " 127\\.0\\.0\\.1:$port( |$)" && kill -9 "$pid"
        done
        [ $pass = first ] && sleep 1
      done
      [ "$1" = delete ] && rm -rf "$0"
      """;

  /** A session of its own, where there is that tool: a signal to the JVM's group spares it. */
  private static final String LAUNCHER =
      """
      command -v setsid > /dev/null && exec setsid /bin/sh -c "$@"
      exec /bin/sh -c "$@"
      """;

  private final Process shell;

  private Watchdog(Process shell) {
    this.shell = shell;
  }

  /**
   * Starts it.
   *
   * @param delete whether it also deletes the folder
   */
  static Watchdog over(Path folder, boolean delete) {
    try {
      return new Watchdog(
          new ProcessBuilder(
                  "/bin/sh",
                  "-c",
                  LAUNCHER,
                  "sh",
                  SCRIPT,
                  folder.toString(),
                  delete ? "delete" : "keep")
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.DISCARD)
              .start());
    } catch (IOException e) {
      throw new NodeException("Cannot start /bin/sh to watch over the nodes: " + e, e);
    }
  }

  /** Ends it without harm to the servers. */
  void disarm() {
    endInput(DISARM + "\n");
  }

  /** Lets it do its work now. */
  void release() {
    endInput("");
  }

  private void endInput(String word) {
    try (OutputStream in = shell.getOutputStream()) {
      in.write(word.getBytes(UTF_8));
    } catch (IOException e) {
      // It has gone already, and can neither help nor do harm.
    }
  }
}
