package dev.holdfast.tck.redis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The environment and faults for anything that lives on Redis nodes: real redis-servers of its own,
 * for one run of the kit.
 *
 * <pre>{@code
 * class MyDriverTckTest extends LockManagerTck {
 *   @Override
 *   protected TckEnvironment environment() {
 *     return RedisTckEnvironment.of("redlock:mydriver:");
 *   }
 * }
 * }</pre>
 *
 * <p>The holder of a lock is read from the key of its name, as {@code SET key token NX PX ttl}
 * writes it. The system property {@link NodeSource#PROPERTY} sets the source of the servers.
 */
public final class RedisTckEnvironment implements TckEnvironment {
  /** The scheme before the nodes' URIs. */
  private static final String REDLOCK = "redlock:";

  private static final String GUARD = "restartGuard=";

  /** The kit empties and restarts nodes, and the guard would hold that against them. */
  private static final String GUARD_OFF = GUARD + "off";

  private static final String FENCING = "fencing";
  private static final String NODES = "{nodes}";

  private final Opener opener;
  private final Opener openerWithSettings;
  private final Optional<String> url;
  private final Optional<TckClock> clock;
  private final TckTiming timing;
  private final Map<String, String> brokenByDesign;
  private final boolean nodeOptions;
  private final List<Map<String, String>> optionSets;
  private final @Nullable TestNodes started;
  private final List<RedisNode> nodes;

  /** A way to open managers other than by a URL. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens a new manager.
     *
     * @param uris of its nodes, such as {@code redis://127.0.0.1:7001}
     * @param options as {@link TckEnvironment#open} has them
     * @return a new manager, which the kit closes
     */
    LockManager open(List<String> uris, Map<String, String> options);

    /**
     * Opens a new manager with settings that a program gives in code. The default cannot.
     *
     * @param uris of its nodes, such as {@code rediss://localhost:7001}
     * @param options as {@link TckEnvironment#open} has them
     * @param settings trust and key managers
     * @return a new manager, which the kit closes
     */
    default LockManager open(
        List<String> uris, Map<String, String> options, OpenSettings settings) {
      throw new UnsupportedOperationException("this environment opens managers without settings");
    }
  }

  /**
   * Opens managers as users do.
   *
   * @param guardOff the option with which the restart guard is off, or nothing
   * @param clock the wall clock of all managers, or empty if the backend takes none
   */
  private record ByUrl(String url, String guardOff, Optional<SteppedClock> clock)
      implements Opener {
    /**
     * Makes the way to open a backend whose restart guard, if it has one, is switched off, with a
     * clock if it takes one.
     */
    static ByUrl of(String url, List<String> uris) {
      ByUrl off = new ByUrl(url, GUARD_OFF, Optional.empty());
      ByUrl plain = new ByUrl(url, "", Optional.empty());
      ByUrl opener = url.contains(GUARD) || !off.knows(Map.of(), uris) ? plain : off;
      Optional<SteppedClock> clock =
          SteppedClock.of(wall -> opener.builder(uris, Map.of()).wallClock(wall).open());
      return new ByUrl(url, opener.guardOff, clock);
    }

    /** Returns the set without fencing tokens, for which a lock is acquired by another command. */
    List<Map<String, String>> optionSets(List<String> uris) {
      Map<String, String> without = Map.of(FENCING, "false");
      return url.contains(FENCING) || !knows(without, uris) ? List.of() : List.of(without);
    }

    /** Returns whether the backend knows the options of the URL, and these. */
    private boolean knows(Map<String, String> options, List<String> uris) {
      if (url.startsWith(REDLOCK)) {
        return true;
      }
      try {
        open(uris, options).close();
        return true;
      } catch (LockConfigurationException e) {
        return false;
      } catch (LockException e) {
        return true; // it read its options before it asked the nodes
      }
    }

    @Override
    public LockManager open(List<String> uris, Map<String, String> options) {
      return open(uris, options, OpenSettings.none());
    }

    @Override
    public LockManager open(List<String> uris, Map<String, String> options, OpenSettings settings) {
      ManagerBuilder builder = builder(uris, options);
      settings.trustManagers().ifPresent(builder::trustManagers);
      settings.keyManagers().ifPresent(builder::keyManagers);
      return builder.open();
    }

    private ManagerBuilder builder(List<String> uris, Map<String, String> options) {
      ManagerBuilder builder = LockManager.builder(text(uris)).options(options);
      clock.ifPresent(builder::wallClock);
      return builder;
    }

    String text(List<String> uris) {
      String nodes = String.join(",", uris);
      if (url.contains("?") && url.indexOf(NODES) > url.indexOf('?')) {
        nodes = nodes.replace("%", "%25"); // the value of an option, which is decoded once more
      }
      String whole = url.contains(NODES) ? url.replace(NODES, nodes) : url + nodes;
      return guardOff.isEmpty() ? whole : whole + (whole.contains("?") ? "&" : "?") + guardOff;
    }
  }

  private RedisTckEnvironment(
      Builder settings, @Nullable TestNodes started, List<RedisNode> nodes) {
    this.started = started;
    this.nodes = nodes;
    Optional<ByUrl> byUrl = Optional.ofNullable(settings.url).map(url -> ByUrl.of(url, uris()));
    this.url = byUrl.map(opener -> opener.text(uris()));
    Optional<Opener> inCode = Optional.ofNullable(settings.opener);
    this.openerWithSettings = byUrl.<Opener>map(opener -> opener).or(() -> inCode).orElseThrow();
    this.opener = inCode.orElse(openerWithSettings);
    this.clock =
        Optional.ofNullable(settings.clock)
            .or(() -> byUrl.flatMap(ByUrl::clock).filter(own -> inCode.isEmpty()));
    this.timing = settings.timing;
    this.brokenByDesign = settings.brokenByDesign;
    this.nodeOptions = settings.nodeOptions;
    this.optionSets =
        Optional.ofNullable(settings.optionSets)
            .or(() -> byUrl.map(opener -> opener.optionSets(uris())))
            .orElse(List.of());
  }

  /**
   * Starts five servers for a backend that is opened by a URL.
   *
   * @param url a URL, to which {@code restartGuard=off} is added if the backend knows this option.
   *     For example {@code redlock:mydriver:}, to which the nodes' URIs are added with commas
   *     between, or {@code redlock:mydriver:{nodes}?some=option}
   * @return a new environment
   */
  public static RedisTckEnvironment of(String url) {
    return builder(url).build();
  }

  /**
   * Returns a builder with other settings, for a backend that is opened by a URL.
   *
   * @param url as {@link #of} takes it
   * @return with five nodes, unless another number is set
   */
  public static Builder builder(String url) {
    return new Builder(url, null);
  }

  /**
   * Returns a builder with settings for a backend without a URL.
   *
   * @param opener opens its managers
   * @return with five nodes, unless something else is said
   */
  public static Builder builder(Opener opener) {
    return new Builder(null, opener);
  }

  @Override
  public LockManager open(Map<String, String> options) {
    return opener.open(uris(), options);
  }

  /** Returns whether the servers are its own. A clock must be its own, too. */
  @Override
  public boolean isIsolated() {
    return started != null;
  }

  /** Returns true for a migration that holds both locks of its URL. */
  @Override
  public boolean holdsTwoLocks() {
    return url.filter(whole -> whole.startsWith("migrate:both")).isPresent();
  }

  @Override
  public boolean hasNodeOptions() {
    return nodeOptions;
  }

  @Override
  public LockManager openOn(List<String> uris, Map<String, String> options) {
    return opener.open(uris, options);
  }

  @Override
  public LockManager openOn(List<String> uris, Map<String, String> options, OpenSettings settings) {
    return openerWithSettings.open(uris, options, settings);
  }

  @Override
  public List<TckNode> nodes() {
    return List.copyOf(nodes);
  }

  @Override
  public Optional<String> url() {
    return url;
  }

  @Override
  public Optional<TckClock> clock() {
    return clock;
  }

  @Override
  public TckTiming timing() {
    return timing;
  }

  @Override
  public Map<String, String> brokenByDesign() {
    return brokenByDesign;
  }

  @Override
  public List<Map<String, String>> optionSets() {
    return optionSets;
  }

  @Override
  public Map<String, String> facts() {
    Map<String, String> facts = new TreeMap<>();
    facts.put("servers", versions());
    facts.put(
        "source of servers",
        started == null ? "running already" : System.getProperty(NodeSource.PROPERTY, "embedded"));
    return facts;
  }

  @Override
  public void reset() {
    nodes.forEach(RedisNode::reset);
  }

  @Override
  public void close() {
    try {
      if (started == null) {
        reset();
      }
    } finally {
      nodes.forEach(RedisNode::close);
      if (started != null) {
        started.close();
      }
    }
  }

  private List<String> uris() {
    return nodes.stream().map(RedisNode::uri).toList();
  }

  private String versions() {
    Map<String, Long> counts =
        nodes.stream()
            .collect(
                Collectors.groupingBy(RedisNode::version, TreeMap::new, Collectors.counting()));
    return counts.entrySet().stream()
        .map(count -> count.getValue() + " × " + count.getKey())
        .collect(Collectors.joining(", "));
  }

  /** Settings. Each method returns this. */
  public static final class Builder {
    private static final int DEFAULT_COUNT = 5;
    private static final String USER = "holdfast-app";
    private static final String PASSWORD = " holdfast \"secret' ";

    private final @Nullable String url;
    private @Nullable Opener opener;
    private int count = DEFAULT_COUNT;
    private List<String> running = List.of();
    private @Nullable String rights;
    private String keyPrefix = "";
    private @Nullable TckClock clock;
    private TckTiming timing = TckTiming.servers();
    private Map<String, String> brokenByDesign = Map.of();
    private boolean nodeOptions = true;
    private @Nullable List<Map<String, String>> optionSets;

    private Builder(@Nullable String url, @Nullable Opener opener) {
      this.url = url;
      this.opener = opener;
    }

    /**
     * Sets the number of servers to start.
     *
     * @param nodes at least 1, by default 5
     */
    public Builder nodes(int nodes) {
      count = nodes;
      return this;
    }

    /**
     * Uses servers that run already, and cannot be frozen or killed. The kit deletes all that is on
     * them, and changes their settings for the time of a test.
     *
     * @param uris of masters that have no keys, with {@code redis://[user[:password]@]host[:port]}
     */
    public Builder running(List<String> uris) {
      running = List.copyOf(uris);
      return this;
    }

    /**
     * Lets managers log in as a user with fewer rights, by user and password in the URIs.
     *
     * @param aclRules for example {@code ~* &* +@all -@scripting}
     */
    public Builder rights(String aclRules) {
      rights = aclRules;
      return this;
    }

    /**
     * Sets the text that the backend puts before the name of a lock to make its key.
     *
     * @param prefix by default nothing
     */
    public Builder keyPrefix(String prefix) {
      keyPrefix = prefix;
      return this;
    }

    /**
     * Opens managers in another way than by the URL, which is left for other processes and for
     * managers with trust and key managers.
     *
     * @param other in place of the URL
     */
    public Builder opener(Opener other) {
      opener = other;
      return this;
    }

    /**
     * Sets the wall clock of the managers that the opener opens.
     *
     * @param wall by default one for managers that are opened by the URL, if the backend takes one
     */
    public Builder clock(TckClock wall) {
      clock = wall;
      return this;
    }

    /**
     * Sets the times that the kit uses and expects.
     *
     * @param times by default {@link TckTiming#servers()}
     */
    public Builder timing(TckTiming times) {
      timing = times;
      return this;
    }

    /**
     * Sets whether the backend knows the options about nodes, as those of Redlock do.
     *
     * @param known by default true
     */
    public Builder nodeOptions(boolean known) {
      nodeOptions = known;
      return this;
    }

    /**
     * Sets the options under which the backend works in another way: tests of times and of
     * exclusion run with each set as well.
     *
     * @param sets by default {@code fencing=false} if managers are opened by a URL that does not
     *     have it, and know it
     */
    public Builder optionSets(List<Map<String, String>> sets) {
      optionSets = List.copyOf(sets);
      return this;
    }

    /**
     * Sets the rules that the backend cannot keep.
     *
     * @param reasons the reason by the rule's id
     */
    public Builder brokenByDesign(Map<String, String> reasons) {
      brokenByDesign = Map.copyOf(reasons);
      return this;
    }

    /**
     * Starts the servers, or connects to those that run.
     *
     * @return a new environment
     * @throws IllegalArgumentException if one that runs is no fit one
     */
    public RedisTckEnvironment build() {
      return running.isEmpty() ? started() : attached();
    }

    private RedisTckEnvironment started() {
      List<String> users = new ArrayList<>();
      users.add("user " + OwnConnection.NAME + " on nopass ~* &* +@all");
      users.add(
          "user " + RedisNode.LOGIN + " on #" + sha256(RedisNode.LOGIN_PASSWORD) + " ~* &* +@all");
      users.add("user " + RedisNode.USER_ALONE + " on nopass ~* &* +@all");
      if (rights != null) {
        users.add("user " + USER + " on #" + sha256(PASSWORD) + " " + rights);
      }
      TestNodes servers =
          TestNodes.builder().count(count).config(users.toArray(String[]::new)).start();
      List<RedisNode> nodes = new ArrayList<>();
      try {
        // new nodes have a mark for the restart guard
        servers.all().forEach(server -> server.command("FLUSHALL"));
        List<RedisNodeUri> uris = servers.uris().stream().map(NodeUris::parse).toList();
        for (TestNode server : servers.all()) {
          RedisNodeUri uri = uris.get(server.index());
          nodes.add(
              new RedisNode(
                  rights == null ? uri : uri.withLogin(USER, PASSWORD),
                  uri.withLogin(OwnConnection.NAME, "any"),
                  keyPrefix,
                  leaderOf(server.index(), uris),
                  server));
        }
        return new RedisTckEnvironment(this, servers, nodes);
      } catch (RuntimeException e) {
        nodes.forEach(RedisNode::close);
        servers.close();
        throw e;
      }
    }

    /** Returns the hash by which a server knows a password: a configuration splits at spaces. */
    static String sha256(String password) {
      try {
        byte[] hash =
            MessageDigest.getInstance("SHA-256").digest(password.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("each JVM has SHA-256", e);
      }
    }

    private RedisTckEnvironment attached() {
      List<RedisNodeUri> uris = running.stream().map(NodeUris::parse).toList();
      List<RedisNode> nodes = new ArrayList<>();
      try {
        for (int i = 0; i < uris.size(); i++) {
          RedisNodeUri uri = uris.get(i);
          nodes.add(new RedisNode(uri, uri, keyPrefix, leaderOf(i, uris), null));
        }
      } catch (RuntimeException e) {
        nodes.forEach(RedisNode::close);
        throw e;
      }
      return new RedisTckEnvironment(this, null, nodes);
    }

    /** Returns the next node, or for a single node an address without a server. */
    private static RedisNodeUri leaderOf(int index, List<RedisNodeUri> uris) {
      RedisNodeUri next = uris.get((index + 1) % uris.size());
      return uris.size() > 1 ? next : next.withServer(next.host(), 1);
    }
  }
}
