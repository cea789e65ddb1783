package dev.holdfast.tck.redis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNode.State;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A redis-server as the kit sees it. */
final class RedisNode implements TckNode, AutoCloseable {
  private static final String LOCAL = "127.0.0.1";

  /** The user of the URI with a login. */
  static final String LOGIN = "holdfast-login";

  /** Holds what URLs and commands give a meaning to, and letters of more than one byte. */
  static final String LOGIN_PASSWORD = " holdfast-login-%41+ \"'\\secret/@:?#%25\u00e4\u20ac ";

  /** The user who needs no password. */
  static final String USER_ALONE = "holdfast-user";

  /** The password of the user without a name, while a login is needed: two words, and a quote. */
  static final String PASSWORD = "holdfast pass\"word";

  private static final Duration FOREIGN_TTL = Duration.ofMinutes(1);

  private final RedisNodeUri uri;
  private final String keyPrefix;
  private final RedisNodeUri leader;
  private final @Nullable TestNode process;
  private final OwnConnection own;
  private final NodeFaultState condition;
  private final Slowness slowness;
  private long requestsBefore;
  private long ownRequests;

  /**
   * Connects to a server that is up, a master, and empty.
   *
   * @param uri the URI by which managers reach it
   * @param ownUri the URI by which the kit reaches it
   * @param keyPrefix the part of a key before the name of a lock
   * @param leader the server that it follows as a replica
   * @param process the process, if it can be frozen and killed
   * @throws IllegalArgumentException if it is no master, or not empty
   */
  RedisNode(
      RedisNodeUri uri,
      RedisNodeUri ownUri,
      String keyPrefix,
      RedisNodeUri leader,
      @Nullable TestNode process) {
    this.uri = uri;
    this.keyPrefix = keyPrefix;
    this.leader = leader;
    this.process = process;
    this.own = new OwnConnection(ownUri);
    try {
      requireFit(own);
    } catch (RuntimeException e) {
      own.close();
      throw e;
    }
    this.condition = new NodeFaultState(own, NodeUris.user(uri));
    this.slowness = new Slowness(ownUri);
  }

  @Override
  public String address() {
    return uri.server();
  }

  @Override
  public String uri() {
    return uri.text();
  }

  @Override
  public Optional<String> otherDatabase() {
    return Optional.of(uri.withDatabase(uri.database() == 3 ? 4 : 3).text());
  }

  @Override
  public Optional<String> withLogin() {
    if (process == null) {
      return Optional.empty();
    }
    return Optional.of(
        uri.password() != null ? uri() : uri.withLogin(LOGIN, LOGIN_PASSWORD).text());
  }

  @Override
  public Optional<String> withPassword() {
    return process == null || uri.password() != null
        ? Optional.empty()
        : Optional.of(uri.withLogin(null, PASSWORD).text());
  }

  @Override
  public Optional<String> withUserAlone() {
    return process == null || uri.password() != null
        ? Optional.empty()
        : Optional.of(uri.withLogin(USER_ALONE, "").text());
  }

  /** Returns the holder. A key of another type has none. */
  @Override
  public Optional<String> holder(String name) {
    try {
      return Optional.ofNullable((String) own.call("GET", key(name)));
    } catch (RedisErrorReply e) {
      if (e.code().equals("WRONGTYPE")) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns the time to live of a key of any type. */
  @Override
  public Duration timeToLive(String name) {
    long millis = own.number("PTTL", key(name));
    if (millis == -1) {
      return ChronoUnit.FOREVER.getDuration();
    }
    return Duration.ofMillis(Math.max(0, millis));
  }

  @Override
  public void occupy(String name, String token, Duration ttl) {
    ownRequests++;
    own.call("SET", key(name), token, "PX", Long.toString(ttl.toMillis()));
  }

  @Override
  public boolean occupyIfFree(String name, String token, Duration ttl) {
    ownRequests++;
    return own.call("SET", key(name), token, "NX", "PX", Long.toString(ttl.toMillis())) != null;
  }

  @Override
  public void remove(String name) {
    own.call("DEL", key(name));
  }

  @Override
  public Set<TckFault> faults() {
    Set<TckFault> faults = EnumSet.copyOf(condition.faults());
    faults.addAll(
        Set.of(
            TckFault.OTHER_TYPE,
            TckFault.CUT,
            TckFault.SUBSCRIPTIONS_CUT,
            TckFault.SCRIPTS_FORGOTTEN,
            TckFault.EMPTIED));
    if (faults.contains(TckFault.FORBIDDEN)) {
      faults.addAll(Set.of(TckFault.NO_SCRIPTS, TckFault.NO_SUBSCRIPTIONS));
    }
    if (process != null) {
      faults.addAll(Set.of(TckFault.FROZEN, TckFault.DEAD, TckFault.LOGIN_NEEDED));
      if (condition.mayTakeLeastRights()) { // the kit has a user of its own on these nodes
        faults.add(TckFault.LEAST_RIGHTS);
      }
    }
    return faults;
  }

  @Override
  public void begin(TckFault fault, String name) {
    switch (fault) {
      case FROZEN -> process().freeze();
      case SLOW -> slowness.begin();
      case DEAD -> kill();
      case REFUSING -> condition.refuse();
      case FORBIDDEN -> condition.forbid();
      case NO_SCRIPTS -> condition.forbidScripts();
      case NO_SUBSCRIPTIONS -> condition.forbidSubscriptions();
      case LEAST_RIGHTS -> condition.leaveLeastRights();
      case OTHER_TYPE -> occupyByList(name);
      case REPLICA -> condition.follow(leader);
      case EVICTING -> condition.evict();
      case CUT -> cut();
      case SUBSCRIPTIONS_CUT -> own.call("CLIENT", "KILL", "TYPE", "pubsub");
      case LOGIN_NEEDED -> condition.needLogin();
      case SCRIPTS_FORGOTTEN -> own.call("SCRIPT", "FLUSH");
      case EMPTIED -> own.call("FLUSHALL");
    }
  }

  @Override
  public void end(TckFault fault, String name) {
    switch (fault) {
      case FROZEN -> thaw();
      case SLOW -> slowness.end();
      case DEAD -> restartIfDown();
      case REFUSING -> condition.accept();
      case FORBIDDEN, NO_SCRIPTS, NO_SUBSCRIPTIONS, LEAST_RIGHTS -> condition.allow();
      case OTHER_TYPE -> remove(name);
      case REPLICA -> condition.lead();
      case EVICTING -> condition.keep();
      case LOGIN_NEEDED -> condition.needNoLogin();
      case CUT, SUBSCRIPTIONS_CUT, SCRIPTS_FORGOTTEN, EMPTIED -> {}
    }
  }

  @Override
  public OptionalLong requests() {
    return OptionalLong.of(requestsBefore + requestsSinceStart() - ownRequests);
  }

  @Override
  public OptionalInt connections() {
    long others =
        own.text("CLIENT", "LIST")
            .lines()
            .filter(line -> !line.contains(" name=" + OwnConnection.NAME + " "))
            .filter(line -> !line.matches(".* flags=\\w*[SM].*"))
            .count();
    return OptionalInt.of((int) others);
  }

  /** Counts each channel once for each client, and each pattern once. */
  @Override
  public OptionalInt subscriptions() {
    List<String> channels = own.texts("PUBSUB", "CHANNELS");
    if (channels.isEmpty()) {
      return OptionalInt.of((int) own.number("PUBSUB", "NUMPAT"));
    }
    List<String> words = new ArrayList<>(List.of("PUBSUB", "NUMSUB"));
    words.addAll(channels);
    List<String> counts = own.texts(words.toArray(String[]::new));
    long sum = own.number("PUBSUB", "NUMPAT");
    for (int i = 1; i < counts.size(); i += 2) {
      sum += Long.parseLong(counts.get(i));
    }
    return OptionalInt.of((int) sum);
  }

  @Override
  public Optional<TckLink> link() {
    return Optional.of(RedisProxy.before(uri, keyPrefix));
  }

  @Override
  public Optional<String> alias() {
    return uri.host().equals(LOCAL)
        ? Optional.of(uri.withServer("localhost", uri.port()).text())
        : Optional.empty();
  }

  /** Makes it sound and empty, whatever was done to it. */
  void reset() {
    if (process != null) {
      thaw();
      restartIfDown();
    }
    slowness.end();
    condition.restore();
  }

  /** Returns the version, for example {@code redis 6.2.11}. */
  String version() {
    Map<String, String> info = own.info("server");
    String valkey = info.get("valkey_version");
    return valkey == null ? "redis " + info.get("redis_version") : "valkey " + valkey;
  }

  /** Ends the kit's own connections. */
  @Override
  public void close() {
    slowness.close();
    own.close();
  }

  private static void requireFit(OwnConnection server) {
    Map<String, String> info = server.info("default");
    if (!NodeFaultState.isMaster(info)) {
      throw new IllegalArgumentException(server + " is a replica: give the kit masters only");
    }
    if (!NodeFaultState.isEmpty(info) && !hasOnlyTheMarkOfNewNodes(server, info)) {
      throw new IllegalArgumentException(
          server + " has keys, and the kit deletes all that is on its nodes: give it empty ones");
    }
  }

  /**
   * Returns whether the server has only the mark of {@code holdfast nodes start} or {@code nodes
   * init}.
   */
  private static boolean hasOnlyTheMarkOfNewNodes(OwnConnection server, Map<String, String> info) {
    return info.keySet().stream().filter(NodeFaultState::isDatabase).toList().equals(List.of("db0"))
        && server.number("DBSIZE") == 1
        && server.number("EXISTS", "holdfast:guard") == 1;
  }

  private String key(String name) {
    return keyPrefix + name;
  }

  private TestNode process() {
    if (process == null) {
      throw new UnsupportedOperationException("the process of " + uri + " is not the kit's");
    }
    return process;
  }

  private void kill() {
    if (process().state() == State.UP) {
      requestsBefore += requestsSinceStart();
    }
    own.close();
    process().kill();
  }

  private void thaw() {
    if (process().state() == State.FROZEN) {
      process().thaw();
    }
  }

  private void restartIfDown() {
    if (process().state() == State.DOWN) {
      process().restart();
    }
  }

  private void cut() {
    own.call("CLIENT", "KILL", "TYPE", "normal");
    own.call("CLIENT", "KILL", "TYPE", "pubsub");
  }

  private void occupyByList(String name) {
    ownRequests++;
    own.call("DEL", key(name));
    own.call("RPUSH", key(name), "no", "lock");
    own.call("PEXPIRE", key(name), Long.toString(FOREIGN_TTL.toMillis()));
  }

  private long requestsSinceStart() {
    return CommandCounts.requests(own.info("commandstats"));
  }
}
