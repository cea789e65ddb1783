package dev.holdfast.cli.tck;

import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import dev.holdfast.testnodes.RedisErrorReply;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The environment that a URL gives the kit.
 *
 * @param url by which managers are opened, with {@code {nodes}} in place of nodes, or {@code
 *     {name}} in place of a name
 * @param parsed the same with nodes
 * @param shown the URL as it was given, users and passwords hidden
 * @param running the nodes, if they run already
 * @param count how many are started if none runs already, or zero where there are none at all
 * @param isInProcess whether other processes have other locks
 */
record TckTarget(
    String url,
    LockUrl parsed,
    String shown,
    List<String> running,
    int count,
    boolean isInProcess) {
  private static final String NODES = "{nodes}";
  private static final String NAME = "{name}";
  private static final String ANY_NAME = "any-name";
  private static final String ANY_NODE = "redis://127.0.0.1:1";
  private static final Pattern GIVEN_NODES = Pattern.compile("(?i)rediss?://[^?]*");
  private static final String MEMORY = "memory";
  private static final String REDLOCK = "redlock";

  /**
   * Reads a URL, and connects nothing.
   *
   * @param nodes how many must be started, if it was said
   * @param isInProcess whether it was said that other processes have other locks
   */
  static TckTarget of(String given, @Nullable Integer nodes, boolean isInProcess) {
    if (given.contains(NODES)) {
      requireNodesMayBeShared(isInProcess);
      return started(given, nodes == null ? LocalNodes.DEFAULT_COUNT : nodes);
    }
    if (nodes != null) {
      throw new UsageException(
          "--nodes says how many servers {nodes} stands for, and --url has no {nodes}: write for"
              + " example redlock:jedis:{nodes}");
    }
    LockUrl parsed = LockUrl.parse(given.replace(NAME, ANY_NAME), Map.of());
    String shown =
        given.contains(NAME) ? parsed.toString().replace(ANY_NAME, NAME) : parsed.toString();
    if (parsed.addresses().isPresent()) {
      requireNodesMayBeShared(isInProcess);
      RedisNodeUri.all(parsed); // says what is wrong before a node is asked
      Matcher target = GIVEN_NODES.matcher(given);
      List<String> running =
          target.results().flatMap(found -> Stream.of(found.group().split(",", -1))).toList();
      return new TckTarget(
          withDriver(target.replaceFirst(Matcher.quoteReplacement(NODES)), parsed),
          parsed,
          shown,
          running,
          0,
          false);
    }
    boolean isMemory = parsed.scheme().equals(MEMORY);
    String url = isMemory && parsed.name().isEmpty() ? given.replaceFirst(":", ":" + NAME) : given;
    return new TckTarget(url, parsed, shown, List.of(), 0, isMemory || isInProcess);
  }

  private static void requireNodesMayBeShared(boolean isInProcess) {
    if (isInProcess) {
      throw new UsageException(
          "--in-process is for locks in one process, and --url has nodes: leave one of them out");
    }
  }

  private static TckTarget started(String given, int count) {
    UsageException.requireRange("--nodes", count, LocalNodes.MAX_NODES);
    LockUrl parsed = LockUrl.parse(given.replace(NODES, ANY_NODE), Map.of());
    return new TckTarget(
        withDriver(given, parsed),
        parsed,
        parsed.toString().replace(ANY_NODE, NODES),
        List.of(),
        count,
        false);
  }

  /** Adds a driver as other commands choose one. */
  private static String withDriver(String url, LockUrl parsed) {
    return parsed.scheme().equals(REDLOCK) && parsed.driver().isEmpty()
        ? url.replaceFirst(":", ":" + Backend.DRIVER + ":")
        : url;
  }

  /**
   * Starts the servers that are needed. Managers are opened later.
   *
   * @param brokenByDesign the reasons by rule
   * @param hasNodeOptions whether managers over nodes know the options about nodes
   */
  TckEnvironment environment(Map<String, String> brokenByDesign, boolean hasNodeOptions) {
    if (!url.contains(NODES)) {
      return TckEnvironment.ofUrl(url, isInProcess, brokenByDesign);
    }
    RedisTckEnvironment.Builder builder =
        RedisTckEnvironment.builder(url)
            .keyPrefix(parsed.text("keyPrefix", ""))
            .nodeOptions(hasNodeOptions)
            .brokenByDesign(brokenByDesign);
    try {
      return running.isEmpty() ? builder.nodes(count).build() : builder.running(running).build();
    } catch (IllegalArgumentException | RedisErrorReply e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }
}
