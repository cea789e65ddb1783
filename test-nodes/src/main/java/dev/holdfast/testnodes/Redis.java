package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Facts about redis-servers, in processes and containers. */
final class Redis {
  /**
   * The limit of one ping. It is short, because another process that has the port may never answer.
   * The ping is repeated anyway.
   */
  private static final Duration PING_LIMIT = Duration.ofMillis(250);

  private static final Pattern PROCESS_ID = Pattern.compile("process_id:(\\d+)");
  private static final Pattern VERSION = Pattern.compile("\\bv=(\\d[\\w.-]*)");
  private static final Pattern SECRET_LINE =
      Pattern.compile("(?im)^.*\\b(requirepass|masterauth|user)\\b.*$");

  private Redis() {}

  /** Returns whether a server answers there that reports this process id. */
  static boolean answers(String host, int port, long processId) {
    try (RawRedis connection = RawRedis.connect(host, port, PING_LIMIT)) {
      Object pong = connection.call("PING");
      // Another server on this port, that came between the choice and the start, answers too.
      Matcher answering = PROCESS_ID.matcher(String.valueOf(connection.call("INFO", "server")));
      return pong != null && answering.find() && Long.parseLong(answering.group(1)) == processId;
    } catch (RedisErrorReply e) {
      return !e.code().equals("LOADING");
    } catch (NodeException e) {
      return false;
    }
  }

  /**
   * Finds the version in the output of {@code --version}. Finds nothing in the output of other
   * programs.
   */
  static Matcher version(String output) {
    return VERSION.matcher(output);
  }

  static boolean isData(String fileName) {
    return fileName.endsWith(".rdb") || fileName.startsWith("appendonly");
  }

  /**
   * Returns a server's output without secrets. A server prints the line of its configuration that
   * it refuses.
   */
  static String withoutSecrets(String output) {
    return SECRET_LINE.matcher(output).replaceAll("(a line with a secret)").strip();
  }
}
