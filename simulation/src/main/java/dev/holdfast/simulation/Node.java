package dev.holdfast.simulation;

import dev.holdfast.redlock.Command;
import dev.holdfast.redlock.Script;
import dev.holdfast.simulation.KeySpace.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A simulated Redis server: keys that expire by its own clock, and one command after another. */
final class Node {
  /** What an append-only file that is written once a second can lose. */
  private static final long ROLLBACK_MICROS = 1_000_000;

  private static final Map<String, Lua> SCRIPTS = new ConcurrentHashMap<>();

  private final World world;
  private final int id;
  private final long ppm;
  private final KeySpace keys;
  private final List<Connection> connections = new ArrayList<>();
  private final Set<String> loaded = new HashSet<>();
  private final Deque<Runnable> backlog = new ArrayDeque<>();
  private final Deque<Undo> journal = new ArrayDeque<>();
  private final Map<String, Stored> storedBy = new HashMap<>();
  private final List<Parted> parted = new ArrayList<>();
  private long dataLostAt = -1;
  private long countersLostAt = -1;
  private long clockOffset;
  private long epoch;
  private boolean up = true;
  private boolean answersNobody;
  private long pausedUntil;
  private long troubledUntil;
  private long errorsUntil;
  private String error = "";
  private @Nullable Request current;

  private record Undo(long at, String key, @Nullable Entry before) {}

  /** Cannot be reached by a client, or by none. */
  private record Parted(@Nullable Host from, long until) {}

  /** Who stored a token, and when. */
  record Stored(Connection connection, long at) {}

  Node(World world, int id) {
    this.world = world;
    this.id = id;
    this.ppm = world.random.nextLong(2 * world.rates.driftPpm + 1) - world.rates.driftPpm;
    this.clockOffset = 1_800_000_000_000_000L + world.random.nextLong(1_000_000);
    this.keys = new KeySpace(this::micros);
    keys.listener(this::changed);
    identify();
  }

  /** Every run, and the history of its data, has a name of its own. */
  private void identify() {
    keys.identity("n" + id + "r" + epoch, "n" + id + "h" + epoch);
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

  /** Since when nothing has been wrong with it; never, if something is. */
  long worksSince() {
    return up && pausedUntil <= world.now() ? troubledUntil : Long.MAX_VALUE;
  }

  boolean isUp() {
    return up;
  }

  boolean lostDataSince(long then) {
    return dataLostAt >= then;
  }

  /** Also by a restart that came late enough for locks. */
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

  /** The time by its own clock. */
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
    if (!up && answersNobody) {
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

  void receive(Request request) {
    if (!up || request.connection().epoch() != epoch) {
      return;
    }
    if (pausedUntil > world.now()) {
      backlog.add(() -> receive(request));
      return;
    }
    current = request;
    Object reply;
    try {
      reply = execute(request.round().command());
    } catch (RedisError e) {
      reply = e;
    }
    current = null;
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
        loaded.add(script.sha1());
      } else if (!loaded.contains(script.sha1())) {
        throw new RedisError("NOSCRIPT No matching script. Please use EVAL.");
      }
      Lua known = SCRIPTS.get(script.sha1());
      if (known == null) {
        known = SCRIPTS.computeIfAbsent(script.sha1(), sha -> Lua.of(script.source()));
      }
      return known.run(keys, eval.keys(), eval.arguments());
    }
    Object reply = keys.call(command.words().toArray(String[]::new));
    return reply instanceof Lua.Status status ? status.text() : reply;
  }

  private void changed(String key, @Nullable Entry before, @Nullable Entry after) {
    Request request = current;
    if (request == null) {
      return;
    }
    if (world.rates.dataLosses > 0) {
      journal.addLast(new Undo(world.now(), key, before));
      while (journal.getFirst().at() < world.now() - ROLLBACK_MICROS) {
        journal.removeFirst();
      }
    }
    String value = after == null ? null : after.value();
    boolean isLock = Workload.isLock(key);
    if (isLock && value != null && (before == null || !value.equals(before.value()))) {
      storedBy.put(value, new Stored(request.connection(), world.now()));
    }
    if (isLock) {
      world.judge.changed(this, request, key, before, after);
    }
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
    answersNobody = world.random.nextBoolean();
    pausedUntil = 0;
    troubledUntil = Math.max(troubledUntil, restartAt);
    for (Connection connection : List.copyOf(connections())) {
      if (answersNobody) {
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

  private void restart() {
    if (up) {
      return;
    }
    world.note(Trace.NONE, id, "starts", "");
    up = true;
    identify();
    for (Connection connection : List.copyOf(connections())) {
      if (connection.epoch() != epoch) {
        connection.resetIn(world.spread(100, 50_000));
      }
    }
  }

  void loseData() {
    switch (world.random.nextInt(4)) {
      case 0 -> crash(Faults.end(world, world.spread(10_000, 1_000_000)), true);
      case 1 -> {
        world.note(Trace.NONE, id, "FLUSHALL", "");
        keys.clear();
      }
      case 2 -> {
        world.note(Trace.NONE, id, "is back at an earlier state", "");
        while (!journal.isEmpty()) {
          Undo undo = journal.removeLast();
          keys.restore(undo.key(), undo.before());
        }
        crash(Faults.end(world, world.spread(10_000, 1_000_000)), false);
      }
      default -> {
        world.note(Trace.NONE, id, "its clock jumps ahead", "");
        clockOffset += world.spread(100_000, 3_600_000_000L);
      }
    }
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
