package dev.holdfast.simulation;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The trace of a run: always a digest, and the text only if it is printed. */
final class Trace {
  /** No client, or no node. */
  static final int NONE = -1;

  private final @Nullable PrintStream out;
  private long hash = 1_125_899_906_842_597L;

  Trace(@Nullable PrintStream out) {
    this.out = out;
  }

  long hash() {
    return hash;
  }

  /**
   * Adds one line: the time, the client, the node, the event, and its details as a number and in
   * words.
   */
  void add(long now, int client, int node, String what, long digest, Supplier<String> about) {
    mix(now);
    mix(client);
    mix(node);
    mix(what.hashCode());
    mix(digest);
    if (out != null) {
      out.printf(
          Locale.ROOT,
          "%10.6f  %-3s %-3s %s %s%n",
          now / 1e6,
          client == NONE ? "" : "c" + client,
          node == NONE ? "" : "n" + node,
          what,
          about.get());
    }
  }

  private void mix(long value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15L;
    hash ^= hash >>> 29;
  }
}
