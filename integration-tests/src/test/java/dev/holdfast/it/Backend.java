package dev.holdfast.it;

import java.util.Arrays;
import java.util.List;

/** What the suite runs for. A new driver of Redlock is one line here. */
enum Backend {
  LETTUCE("redlock:lettuce:"),
  MEMORY("memory:");

  private final String urlPrefix;

  Backend(String urlPrefix) {
    this.urlPrefix = urlPrefix;
  }

  /** Those that run on redis-servers. */
  static List<Backend> drivers() {
    return Arrays.stream(values()).filter(Backend::hasNodes).toList();
  }

  boolean hasNodes() {
    return this != MEMORY;
  }

  String url(List<String> nodes) {
    return urlPrefix + String.join(",", nodes);
  }
}
