package dev.holdfast.simulation;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The keys of one node, and the commands on them that locks need, as Redis does them. */
final class KeySpace implements Lua.Commands {
  private static final Lua.Status OK = new Lua.Status("OK");
  private static final Lua.Status STRING = new Lua.Status("string");

  private final LongSupplier micros;
  private Map<String, Entry> entries = new HashMap<>();
  private Map<String, Entry> others = new HashMap<>();
  private boolean full;
  private boolean readOnly;
  private String server = "";
  private String replication = "";
  private Changes changes = (key, before, after) -> {};
  private Publishing publishing = (channel, message) -> 0;

  /**
   * The value of a key.
   *
   * @param value the string, or null if it is a hash
   * @param fields of the hash
   * @param expiresAt in milliseconds of the node's own clock
   */
  record Entry(@Nullable String value, Map<String, String> fields, long expiresAt) {
    static final long NEVER = Long.MAX_VALUE;

    static Entry string(String value, long expiresAt) {
      return new Entry(value, Map.of(), expiresAt);
    }

    static Entry hash(Map<String, String> fields) {
      return new Entry(null, fields, NEVER);
    }

    Entry until(long otherExpiry) {
      return new Entry(value, fields, otherExpiry);
    }
  }

  /** Receives every change except the end of a key's time. */
  interface Changes {
    void changed(String key, @Nullable Entry before, @Nullable Entry after);
  }

  /** Passes messages on. */
  interface Publishing {
    /** Says how many get it. */
    long publish(String channel, String message);
  }

  KeySpace(LongSupplier micros) {
    this.micros = micros;
  }

  private long millis() {
    return micros.getAsLong() / 1_000;
  }

  void listener(Changes listener) {
    changes = listener;
  }

  void publisher(Publishing publisher) {
    publishing = publisher;
  }

  /** Sets what {@code INFO} says of the run and of the data's history. */
  void identity(String run, String history) {
    server = "# Server\r\nrun_id:" + run + "\r\n";
    replication =
        "# Replication\r\nrole:"
            + (readOnly ? "slave" : "master")
            + "\r\nmaster_replid:"
            + history
            + "\r\n";
  }

  /** Sets whether memory is full: then commands that need more of it are refused. */
  void full(boolean isFull) {
    full = isFull;
  }

  @Nullable Entry get(String key) {
    Entry entry = entries.get(key);
    if (entry != null && entry.expiresAt() != Entry.NEVER && millis() > entry.expiresAt()) {
      entries.remove(key);
      return null;
    }
    return entry;
  }

  void forEach(BiConsumer<String, Entry> action) {
    for (String key : entries.keySet().toArray(String[]::new)) {
      Entry entry = get(key);
      if (entry != null) {
        action.accept(key, entry);
      }
    }
  }

  /** Restores former content, without a command. */
  void restore(String key, @Nullable Entry entry) {
    if (entry == null) {
      entries.remove(key);
    } else {
      entries.put(key, entry);
    }
  }

  /** Clears all databases. */
  void clear() {
    entries.clear();
    others.clear();
  }

  /** Swaps with another database. */
  void swap() {
    Map<String, Entry> swapped = entries;
    entries = others;
    others = swapped;
  }

  void copy(KeySpace other) {
    entries.putAll(other.entries);
    others.putAll(other.others);
  }

  /** Makes the keys read-only, as those of a replica are. */
  void readOnly(boolean is) {
    readOnly = is;
  }

  /** Runs {@code SET key value NX PX ttl}. */
  boolean setIfAbsent(String key, String value, long ttlMillis) {
    requireMemory();
    if (get(key) != null) {
      return false;
    }
    put(key, null, Entry.string(value, millis() + ttlMillis));
    return true;
  }

  @Override
  public @Nullable Object call(String... words) {
    return switch (words[0]) {
      case "GET" -> string(words[1]);
      case "SET" -> set(words);
      case "DEL" -> delete(words[1]);
      case "PTTL" -> timeLeft(words[1]);
      case "PEXPIRE" -> expire(words[1], Long.parseLong(words[2]));
      case "TYPE" -> type(words[1]);
      case "HSET" -> setFields(words);
      case "HMGET" -> fields(words);
      case "TIME" -> time();
      case "INFO" -> info(words);
      case "PUBLISH" -> publishing.publish(words[1], words[2]);
      default -> throw new RedisError("ERR unknown command '" + words[0] + "'");
    };
  }

  private @Nullable Object string(String key) {
    Entry entry = get(key);
    if (entry != null && entry.value() == null) {
      throw new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
    }
    return entry == null ? null : entry.value();
  }

  private Object time() {
    long now = micros.getAsLong();
    return List.of(Long.toString(now / 1_000_000), Long.toString(now % 1_000_000));
  }

  private void requireWritable() {
    if (readOnly) {
      throw new RedisError("READONLY You can't write against a read only replica.");
    }
  }

  private void requireMemory() {
    requireWritable();
    if (full) {
      throw new RedisError("OOM command not allowed when used memory > 'maxmemory'.");
    }
  }

  private @Nullable Object set(String... words) {
    requireMemory();
    boolean ifAbsent = false;
    long expiresAt = Entry.NEVER;
    for (int i = 3; i < words.length; i++) {
      switch (words[i]) {
        case "NX" -> ifAbsent = true;
        case "PX" -> expiresAt = millis() + ttl(words[++i]);
        default -> throw new RedisError("ERR syntax error");
      }
    }
    Entry before = get(words[1]);
    if (ifAbsent && before != null) {
      return null;
    }
    put(words[1], before, Entry.string(words[2], expiresAt));
    return OK;
  }

  private static long ttl(String word) {
    try {
      long millis = Long.parseLong(word);
      if (millis > 0) {
        return millis;
      }
    } catch (NumberFormatException e) {
      throw new RedisError("ERR value is not an integer or out of range");
    }
    throw new RedisError("ERR invalid expire time in 'set' command");
  }

  private Object delete(String key) {
    requireWritable();
    Entry before = get(key);
    if (before == null) {
      return 0L;
    }
    entries.remove(key);
    changes.changed(key, before, null);
    return 1L;
  }

  private Object timeLeft(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return -2L;
    }
    return entry.expiresAt() == Entry.NEVER ? -1L : entry.expiresAt() - millis();
  }

  private Object expire(String key, long ttlMillis) {
    requireWritable();
    Entry before = get(key);
    if (before == null) {
      return 0L;
    }
    if (ttlMillis <= 0) {
      return delete(key);
    }
    put(key, before, before.until(millis() + ttlMillis));
    return 1L;
  }

  private Object type(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return new Lua.Status("none");
    }
    return entry.value() == null ? new Lua.Status("hash") : STRING;
  }

  private @Nullable Entry hash(String key) {
    Entry entry = get(key);
    if (entry != null && entry.value() != null) {
      throw new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
    }
    return entry;
  }

  private Object setFields(String... words) {
    requireMemory();
    Entry before = hash(words[1]);
    Map<String, String> fields = new HashMap<>(before == null ? Map.of() : before.fields());
    long added = 0;
    for (int i = 2; i < words.length; i += 2) {
      added += fields.put(words[i], words[i + 1]) == null ? 1 : 0;
    }
    put(
        words[1],
        before,
        new Entry(null, fields, before == null ? Entry.NEVER : before.expiresAt()));
    return added;
  }

  private Object fields(String... words) {
    Entry entry = hash(words[1]);
    String[] values = new String[words.length - 2];
    for (int i = 0; entry != null && i < values.length; i++) {
      values[i] = entry.fields().get(words[i + 2]);
    }
    return Arrays.asList(values);
  }

  private Object info(String... words) {
    return switch (words[1]) {
      case "server" -> server;
      case "replication" -> replication;
      default -> throw new RedisError("ERR syntax error");
    };
  }

  private void put(String key, @Nullable Entry before, Entry after) {
    entries.put(key, after);
    changes.changed(key, before, after);
  }
}
