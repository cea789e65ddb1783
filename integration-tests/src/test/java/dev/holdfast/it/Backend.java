package dev.holdfast.it;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The backend that the tests run for. */
enum Backend {
  JEDIS("redlock:jedis:", JedisTckTest.class),
  LETTUCE("redlock:lettuce:", LettuceTckTest.class),
  REDISSON("redlock:redisson:", RedissonTckTest.class),

  /** Jedis with a user who may run no scripts, only where they are asked for. */
  JEDIS_WITHOUT_SCRIPTS("redlock:jedis:", JedisWithoutScriptsTckTest.class),
  LETTUCE_WITHOUT_SCRIPTS("redlock:lettuce:", LettuceWithoutScriptsTckTest.class),
  REDISSON_WITHOUT_SCRIPTS("redlock:redisson:", RedissonWithoutScriptsTckTest.class);

  private static final String RESTRICTION = "holdfast.drivers";

  private static final String NO_SCRIPTS = "~* &* +@all -@scripting";

  /** For the configuration of each node. */
  static final String USERS = "user scriptless on >secret " + NO_SCRIPTS;

  private final String urlPrefix;
  private final Class<? extends LockManagerTck> kit;

  Backend(String urlPrefix, Class<? extends LockManagerTck> kit) {
    this.urlPrefix = urlPrefix;
    this.kit = kit;
  }

  /**
   * Returns the backends with all rights, or those that the system property names, separated by
   * commas.
   */
  static List<Backend> all() {
    return isRestricted()
        ? Arrays.stream(System.getProperty(RESTRICTION).split(","))
            .map(name -> valueOf(name.toUpperCase(Locale.ROOT)))
            .toList()
        : Arrays.stream(values()).filter(Backend::runsScripts).toList();
  }

  /**
   * Returns those that the system property names, and without it one, or all in soak. CI names all
   * of them in its runs on other servers, and each module of a driver has tests of its own.
   */
  static List<Backend> named() {
    return isRestricted() || Boolean.getBoolean("holdfast.soak") ? all() : first();
  }

  private static boolean isRestricted() {
    return !System.getProperty(RESTRICTION, "").isEmpty();
  }

  /** The first of {@link #all}. */
  static List<Backend> first() {
    return all().subList(0, 1);
  }

  boolean runsScripts() {
    return !name().endsWith("_WITHOUT_SCRIPTS");
  }

  /** Returns the kit that proves it. */
  Class<? extends LockManagerTck> kit() {
    return kit;
  }

  /** For the kit. */
  RedisTckEnvironment.Builder environment() {
    RedisTckEnvironment.Builder environment =
        RedisTckEnvironment.builder(urlOf(List.of("{nodes}"))).nodes(kitNodes());
    return runsScripts()
        ? environment
        : environment
            .rights(NO_SCRIPTS)
            .brokenByDesign(Map.of("REL-9", "a release waits for the transaction before it"));
  }

  /** Returns five, of which two can fail. Where all run, some have other numbers. */
  private int kitNodes() {
    if (isRestricted()) {
      return 5;
    }
    return switch (this) {
      case JEDIS -> 3; // as most users have
      case REDISSON -> 4; // of which a quorum is three
      default -> 5;
    };
  }

  /** Returns the URL with the nodes' URIs as they are. */
  String urlOf(List<String> uris) {
    return urlPrefix
        + String.join(",", uris)
        + (runsScripts() ? "" : "?fencing=false&restartGuard=off");
  }

  /** Up to the driver. */
  String urlPrefix() {
    return urlPrefix;
  }

  /** For its user, where the nodes' URIs name none. */
  String url(List<String> nodes) {
    String url = urlOf(nodes);
    return runsScripts() ? url : url.replace("://127.", "://scriptless:secret@127.");
  }
}
