package dev.holdfast.testnodes;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What goes into a node's redis.conf besides its own port and folder. */
record ServerConfig(ServerBinary binary, List<String> extraLines) {
  private static final Set<String> OURS =
      Set.of(
          "port",
          "bind",
          "dir",
          "daemonize",
          "supervised",
          "pidfile",
          "logfile",
          "include",
          "set-proc-title",
          "proc-title-template",
          "dbfilename",
          "appendfilename",
          "appenddirname");

  /** Checks lines that a user wrote. */
  static List<String> checked(List<String> lines) {
    for (String line : lines) {
      String directive = line.strip().split("\\s", 2)[0].toLowerCase(Locale.ROOT);
      if (OURS.contains(directive)) {
        throw new IllegalArgumentException(
            "The redis.conf directive " + directive + " is set by TestNodes itself: leave it out");
      }
      if (line.indexOf('\n') >= 0 || line.indexOf('\r') >= 0) {
        throw new IllegalArgumentException(
            "The redis.conf directive " + directive + " has a line break: pass one line each");
      }
    }
    return List.copyOf(lines);
  }

  String text(Path folder, int port) {
    StringBuilder text = new StringBuilder();
    text.append("bind ").append(Ports.HOST).append('\n');
    text.append("port ").append(port).append('\n');
    text.append("daemonize yes\n");
    text.append("dir ").append(quoted(folder.toString())).append('\n');
    text.append("pidfile ").append(quoted(folder.resolve(ServerProcess.PID_FILE).toString()));
    text.append('\n');
    text.append("logfile ").append(quoted(folder.resolve(ServerProcess.LOG_FILE).toString()));
    text.append('\n');
    text.append("save \"\"\n");
    text.append("appendonly no\n");
    if (binary.mustBeToldToAllowDebug()) {
      text.append("enable-debug-command yes\n");
    }
    extraLines.forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
