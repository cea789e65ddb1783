package dev.holdfast.it;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What the suite runs for. A new driver of Redlock is one line here. */
enum Backend {
  JEDIS("redlock:jedis:"),
  LETTUCE("redlock:lettuce:"),
  REDISSON("redlock:redisson:"),
  MEMORY("memory:"),

  /** As a user who may run no scripts; only where they are asked for. */
  JEDIS_WITHOUT_SCRIPTS("redlock:jedis:", "scriptless:secret"),
  LETTUCE_WITHOUT_SCRIPTS("redlock:lettuce:", "scriptless:secret"),
  REDISSON_WITHOUT_SCRIPTS("redlock:redisson:", "scriptless:secret");

  private static final String RESTRICTION = "holdfast.drivers";

  /** For the configuration of each node. */
  static final String USERS = "user scriptless on >secret ~* &* +@all -@scripting";

  private final String urlPrefix;
  private final String credentials;

  Backend(String urlPrefix) {
    this(urlPrefix, "");
  }

  Backend(String urlPrefix, String credentials) {
    this.urlPrefix = urlPrefix;
    this.credentials = credentials.isEmpty() ? "" : credentials + "@";
  }

  /** Those of all rights, or those that the system property names, with commas between. */
  static List<Backend> all() {
    String names = System.getProperty(RESTRICTION, "");
    return names.isEmpty()
        ? Arrays.stream(values()).filter(Backend::runsScripts).toList()
        : Arrays.stream(names.split(","))
            .map(name -> valueOf(name.toUpperCase(Locale.ROOT)))
            .toList();
  }

  /** Those of them that run on redis-servers. */
  static List<Backend> drivers() {
    return all().stream().filter(Backend::hasNodes).toList();
  }

  boolean hasNodes() {
    return this != MEMORY;
  }

  boolean runsScripts() {
    return credentials.isEmpty();
  }

  String url(List<String> nodes) {
    return urlPrefix + String.join(",", nodes).replace("://127.", "://" + credentials + "127.");
  }
}
