package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.simulation.KeySpace.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A simulated Redis server: keys that expire by its own clock, and one command after another. */
final class Node {
  /** The data that an append-only file loses that is written once a second. */
  private static final long ROLLBACK_MICROS = 1_000_000;

  private static final int HISTORY_LENGTH = 40;

  /** The prefix of the core's counters of fencing tokens. */
  private static final String COUNTERS = "holdfast:fence:";

  /** The prefix of the channels on which the core publishes releases. */
  private static final String CHANNELS = "holdfast:released:";

  /** The key of the core's guard record. */
  private static final String GUARD = "holdfast:guard";

  private static final Map<String, Lua> SCRIPTS = new ConcurrentHashMap<>();

  private final World world;
  private final int id;
  private final long ppm;
  private final KeySpace keys;
  private final List<Connection> connections = new ArrayList<>();
  private final Map<String, Set<SimulatedSubscription>> listeners = new HashMap<>();
  private final Map<String, Lua> loaded = new HashMap<>();
  private final Deque<Runnable> backlog = new ArrayDeque<>();
  private final Deque<Undo> journal = new ArrayDeque<>();
  private final boolean keepsJournal;
  private final Map<String, Stored> storedBy = new HashMap<>();
  private final List<Parted> parted = new ArrayList<>();
  private long dataLostAt = -1;
  private long countersLostAt = -1;
  private long keptOutAt = -1;
  private long clockOffset;
  private long epoch;
  private int histories;
  private String history = "";
  private boolean up = true;
  private boolean isSilentWhenDown;
  private long pausedUntil;
  private long troubledUntil;
  private long errorsUntil;
  private String error = "";
  private @Nullable Request current;

  private record Undo(long at, String key, @Nullable Entry before) {}

  /** Cannot be reached by a client, or by none. */
  private record Parted(@Nullable Host from, long until) {}

  /** The connection that stored a token, when it did, and when the command was sent. */
  record Stored(Connection connection, long at, long sentAt) {}

  Node(World world, int id) {
    this.world = world;
    this.id = id;
    this.ppm = world.random.nextLong(2 * world.rates.driftPpm + 1) - world.rates.driftPpm;
    this.clockOffset = 1_800_000_000_000_000L + world.random.nextLong(1_000_000);
    this.keepsJournal = world.rates.dataLosses + world.rates.guardedLosses > 0;
    this.keys = new KeySpace(this::micros);
    keys.listener(this::changed);
    keys.publisher(this::publish);
    beginHistory();
    if (world.setting.guard() && !world.setting.fresh()) {
      vouch(0);
    }
  }

  /** Returns a new history as long as those of Redis. */
  private String nextHistory() {
    String name = "n" + id + "h" + ++histories + "h";
    return name + "0".repeat(HISTORY_LENGTH - name.length());
  }

  private void beginHistory() {
    history = nextHistory();
    keys.readOnly(false);
    identify();
  }

  private void identify() {
    keys.identity(run(), history);
  }

  private String run() {
    return "n" + id + "r" + epoch;
  }

  /** Marks a database as whole, as {@code holdfast nodes init} does. */
  private void vouch(int database) {
    Map<String, String> fields = new HashMap<>();
    fields.put("id", history + " " + database);
    fields.put("since", "0");
    if (world.rates.stranger) {
      fields.put("terms", world.longestTtlMillis(false) + " " + world.setting.nodes() + " ");
    }
    keys.restore(GUARD, Entry.hash(fields));
  }

  /** Returns whether the votes of this node do not count yet. */
  boolean isQuarantined() {
    Entry guard = keys.get(GUARD);
    return guard == null || !"0".equals(guard.fields().get("since"));
  }

  /**
   * Returns whether this node votes and the next client that examines it finds nothing else. A
   * replica does not.
   */
  boolean isWhole() {
    Entry guard = keys.get(GUARD);
    return worksSince() <= world.now()
        && guard != null
        && "0".equals(guard.fields().get("since"))
        && (history + " 0").equals(guard.fields().get("id"));
  }

  int id() {
    return id;
  }

  @Override
  public String toString() {
    return "n" + id;
  }

  KeySpace keys() {
    return keys;
  }

  /**
   * Returns the time since which this node works without trouble, or {@link Long#MAX_VALUE} if it
   * does not.
   */
  long worksSince() {
    return up && pausedUntil <= world.now() ? troubledUntil : Long.MAX_VALUE;
  }

  /** Returns whether the restart guard has let each answer since then count as a vote. */
  boolean votesSince(long then) {
    return keptOutAt < then;
  }

  boolean isUp() {
    return up;
  }

  boolean lostDataSince(long then) {
    return dataLostAt >= then;
  }

  /**
   * Returns whether the counters were lost since then, also by a restart that came late enough for
   * locks.
   */
  boolean lostCountersSince(long then) {
    return countersLostAt >= then;
  }

  @Nullable Stored storedBy(String token) {
    return storedBy.get(token);
  }

  List<Connection> connections() {
    connections.removeIf(Connection::isEnded);
    return connections;
  }

  /** Returns the time of the node's own clock. */
  long micros() {
    long passed = world.now();
    return clockOffset + passed + passed * ppm / 1_000_000;
  }

  // ---- what comes in
  // -----------------------------------------------------------------------------

  void connecting(Connection connection) {
    connections().add(connection);
    for (Parted one : parted) {
      if (one.until() > world.now() && (one.from() == null || one.from() == connection.host())) {
        connection.stall(one.until());
      }
    }
  }

  void partedFrom(@Nullable Host host, long until) {
    parted.add(new Parted(host, until));
  }

  void accept(Connection connection) {
    if (!up && isSilentWhenDown) {
      return;
    }
    if (!up) {
      connection.refused();
    } else if (pausedUntil > world.now()) {
      backlog.add(() -> accept(connection));
    } else {
      connection.accepted(epoch);
    }
  }

  /** Does what was sent on a connection, if it still is one and as soon as the node goes on. */
  void act(Connection connection, Runnable action) {
    if (!up || connection.epoch() != epoch) {
      return;
    }
    if (pausedUntil > world.now()) {
      backlog.add(() -> act(connection, action));
    } else {
      action.run();
    }
  }

  void subscribe(String channel, SimulatedSubscription subscription) {
    listenersOf(channel).add(subscription);
  }

  void unsubscribe(String channel, SimulatedSubscription subscription) {
    listenersOf(channel).remove(subscription);
  }

  private Set<SimulatedSubscription> listenersOf(String channel) {
    return listeners.computeIfAbsent(channel, name -> new LinkedHashSet<>());
  }

  private long publish(String channel, String message) {
    Host by = Objects.requireNonNull(current).connection().host();
    Set<SimulatedSubscription> subscribers = listenersOf(channel);
    subscribers.removeIf(SimulatedSubscription::isOver);
    subscribers.forEach(subscription -> subscription.publish(channel, message, by));
    return subscribers.size();
  }

  /** Returns the last fencing token that this node made or stored. */
  long counter(String key) {
    Entry entry = keys.get(COUNTERS + key);
    return entry == null ? 0 : Long.parseLong(Objects.requireNonNull(entry.value()));
  }

  /** Returns whether a client is subscribed to releases of a key. */
  boolean hears(String key, Host host) {
    for (SimulatedSubscription subscription : listeners.getOrDefault(CHANNELS + key, Set.of())) {
      if (subscription.host() == host && !subscription.isOver()) {
        return true;
      }
    }
    return false;
  }

  static boolean isChannelOfKey(String channel) {
    return channel.startsWith(CHANNELS);
  }

  static String keyOf(String channel) {
    return channel.substring(CHANNELS.length());
  }

  void receive(Request request) {
    act(request.connection(), () -> carryOut(request));
  }

  private void carryOut(Request request) {
    current = request;
    Object reply;
    try {
      reply = execute(request.round().command());
    } catch (RedisError e) {
      reply = e;
    }
    current = null;
    if (reply instanceof RedisError refusal && refusal.text().contains("QUARANTINE ")) {
      keptOutAt = world.now();
    }
    Object said = reply instanceof RedisError failure ? failure.text() : reply;
    world.note(
        request.connection().host().id(),
        id,
        "runs",
        said instanceof Long number ? number : said == null ? 0 : 1,
        () -> text(request.round().command()) + " → " + String.valueOf(said).replace("\r\n", " "));
    request.connection().reply(request, reply);
  }

  private @Nullable Object execute(Command command) {
    boolean fails = errorsUntil > world.now();
    if (command instanceof Command.Info) {
      return String.valueOf(keys.call("INFO", "server"))
          + keys.call("INFO", "replication")
          + "maxmemory_policy:noeviction\r\n";
    }
    boolean full = error.startsWith("OOM");
    if (fails && !full) {
      throw new RedisError(error);
    }
    keys.full(fails && full);
    if (command instanceof Command.SetIfAbsent set) {
      return keys.setIfAbsent(set.key(), set.value(), set.ttlMillis()) ? "OK" : null;
    }
    if (command instanceof Command.Eval eval) {
      Script script = eval.script();
      if (eval.withSource()) {
        loaded.put(
            script.sha1(), SCRIPTS.computeIfAbsent(script.sha1(), sha -> Lua.of(script.source())));
      }
      Lua known = loaded.get(script.sha1());
      return known == null
          ? new RedisError("NOSCRIPT No matching script. Please use EVAL.")
          : known.run(keys, eval.keys(), eval.arguments());
    }
    Object reply = keys.call(command.words().toArray(String[]::new));
    return reply instanceof Lua.Status status ? status.text() : reply;
  }

  private void changed(String key, @Nullable Entry before, @Nullable Entry after) {
    Request request = current;
    if (request == null) {
      return;
    }
    if (keepsJournal) {
      journal.addLast(new Undo(world.now(), key, before));
      while (journal.getFirst().at() < world.now() - ROLLBACK_MICROS) {
        journal.removeFirst();
      }
    }
    if (!Workload.isLock(key)) {
      return;
    }
    String value = after == null ? null : after.value();
    if (value != null && (before == null || !value.equals(before.value()))) {
      storedBy.put(value, new Stored(request.connection(), world.now(), request.sentAt()));
    }
    world.judge.changed(this, request, before, after);
  }

  // ---- what happens to it
  // ------------------------------------------------------------------------

  void pause(long until) {
    world.note(Trace.NONE, id, "stands still", "for " + (until - world.now()) + " us");
    pausedUntil = Math.max(pausedUntil, until);
    troubledUntil = Math.max(troubledUntil, until);
    world.at(until, null, this::goOn);
  }

  private void goOn() {
    if (pausedUntil > world.now()) {
      return;
    }
    List<Runnable> waiting = List.copyOf(backlog);
    backlog.clear();
    waiting.forEach(Runnable::run);
  }

  void crash(long restartAt, boolean empty) {
    world.note(Trace.NONE, id, "crashes", empty ? "and loses its data" : "and keeps its data");
    up = false;
    epoch++;
    backlog.clear();
    loaded.clear();
    listeners.clear();
    isSilentWhenDown = world.random.nextBoolean();
    pausedUntil = 0;
    troubledUntil = Math.max(troubledUntil, restartAt);
    for (Connection connection : List.copyOf(connections())) {
      if (isSilentWhenDown) {
        connection.silence();
      } else {
        connection.resetIn(world.spread(100, 50_000));
      }
    }
    if (empty) {
      keys.clear();
      countersLostAt = world.now();
    }
    world.at(restartAt, null, this::restart);
  }

  /** Crashes and comes back empty while its grants may be held. */
  void crashAndVoteAtOnce(long restartAt) {
    crash(restartAt, true);
    onLoss();
  }

  private void restart() {
    if (up) {
      return;
    }
    world.note(Trace.NONE, id, "starts", "");
    up = true;
    beginHistory();
    for (Connection connection : List.copyOf(connections())) {
      if (connection.epoch() != epoch) {
        connection.resetIn(world.spread(100, 50_000));
      }
    }
  }

  void flush() {
    world.note(Trace.NONE, id, "FLUSHALL", "");
    keys.clear();
    onLoss();
  }

  /** Crashes and comes back without the writes that its append-only file did not have yet. */
  void rollBack(long restartAt) {
    world.note(Trace.NONE, id, "is back at an earlier state", "");
    undo();
    crash(restartAt, false);
    onLoss();
  }

  private void undo() {
    while (!journal.isEmpty()) {
      Undo undo = journal.removeLast();
      keys.restore(undo.key(), undo.before());
    }
  }

  void forgetGuard() {
    world.note(Trace.NONE, id, "loses the record of its guard", "");
    keys.restore(GUARD, null);
  }

  /** Swaps with a database whose clients keep a record just like this one. */
  void swapDatabases() {
    world.note(Trace.NONE, id, "SWAPDB 0 1", "");
    Entry guard = keys.get(GUARD);
    keys.swap();
    if (guard != null) {
      Map<String, String> fields = new HashMap<>(guard.fields());
      fields.computeIfPresent("id", (name, text) -> text.replaceFirst(" 0$", " 1"));
      keys.restore(GUARD, Entry.hash(fields));
    }
    onLoss();
  }

  /** Replicates the data of another node. */
  void replicate(Node master, long until) {
    keys.clear();
    keys.copy(master.keys);
    storedBy.putAll(master.storedBy);
    replicate(master.toString(), master.history, until);
  }

  void replicateAnEmptyServer(long until) {
    keys.clear();
    replicate("an empty server", nextHistory(), until);
  }

  /** Replicates the node's former replica, which is slightly behind. */
  void replicateItsFormerReplica(long until) {
    undo();
    replicate("what was its own replica", nextHistory(), until);
  }

  private void replicate(String master, String itsHistory, long until) {
    world.note(Trace.NONE, id, "REPLICAOF", master);
    history = itsHistory;
    keys.readOnly(true);
    identify();
    troubledUntil = Math.max(troubledUntil, until);
    onLoss();
    world.at(until, null, () -> endReplication(epoch));
  }

  private void endReplication(long then) {
    if (epoch == then) {
      world.note(Trace.NONE, id, "REPLICAOF NO ONE", "");
      beginHistory();
    }
  }

  /** Sets only the clock ahead. Keys that have a time to live may expire by this. */
  void jumpAhead(long byMicros) {
    world.note(Trace.NONE, id, "its clock jumps ahead", "by " + byMicros + " us");
    clockOffset += byMicros;
    onLoss();
  }

  /** Sets the clock while the node is down. */
  void setClock(long byMicros) {
    world.note(Trace.NONE, id, "its clock is set", "by " + byMicros + " us");
    clockOffset += byMicros;
    onLoss();
  }

  private void onLoss() {
    dataLostAt = world.now();
    countersLostAt = world.now();
    journal.clear();
  }

  void failFor(long until) {
    error =
        switch (world.random.nextInt(3)) {
          case 0 -> "OOM command not allowed when used memory > 'maxmemory'.";
          case 1 -> "LOADING Redis is loading the dataset in memory";
          default -> "BUSY Redis is busy running a script.";
        };
    world.note(Trace.NONE, id, "answers", error);
    errorsUntil = until;
    troubledUntil = Math.max(troubledUntil, until);
  }

  void forgetScripts() {
    world.note(Trace.NONE, id, "SCRIPT FLUSH", "");
    loaded.clear();
  }

  private static String text(Command command) {
    if (command instanceof Command.Eval eval) {
      return "script "
          + eval.script().sha1().substring(0, 6)
          + (eval.withSource() ? " with source " : " ")
          + eval.keys()
          + " "
          + eval.arguments().stream().map(Judge::shortened).toList();
    }
    return String.join(" ", command.words().stream().map(Judge::shortened).toList());
  }
}
