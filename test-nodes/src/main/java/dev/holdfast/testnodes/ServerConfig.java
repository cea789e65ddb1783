package dev.holdfast.testnodes;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Lines of a node's redis.conf beyond those that its place needs. */
record ServerConfig(String version, List<String> extraLines) {
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

  /**
   * Returns the text of the whole file.
   *
   * @param ofItsPlace the lines for port, folder and so on
   */
  String text(List<String> ofItsPlace) {
    List<String> lines = new ArrayList<>(ofItsPlace);
    lines.add("save \"\"");
    lines.add("appendonly no");
    // Processes die here, not the machine. With everysec, Redis answers up to 2 s before it writes
    // when the disk is slow to synchronise, and SIGKILL would lose what was answered.
    lines.add("appendfsync no");
    if (needsOptionToAllowDebug()) {
      lines.add("enable-debug-command yes");
    }
    lines.addAll(extraLines);
    return String.join("\n", lines) + '\n';
  }

  /**
   * Returns whether the option is needed. Redis 7 forbids DEBUG without this option, and Redis 6
   * does not start with it.
   */
  boolean needsOptionToAllowDebug() {
    return Integer.parseInt(version.replaceFirst("\\D.*", "")) >= 7;
  }
}
