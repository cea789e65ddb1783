package dev.holdfast.simulation;

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

  private final Map<String, Entry> entries = new HashMap<>();
  private final LongSupplier micros;
  private boolean full;
  private Changes changes = (key, before, after) -> {};

  /**
   * What is stored under a key.
   *
   * @param value the string; of a hash, which is here only to be of another type, nothing
   * @param expiresAt in milliseconds of the node's own clock
   */
  record Entry(@Nullable String value, long expiresAt) {
    static final long NEVER = Long.MAX_VALUE;
  }

  /** Is told of every change but the end of a key's time. */
  interface Changes {
    void changed(String key, @Nullable Entry before, @Nullable Entry after);
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

  /** With memory full, what needs more of it is refused. */
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

  /** Puts back what was there once; not a command. */
  void restore(String key, @Nullable Entry entry) {
    if (entry == null) {
      entries.remove(key);
    } else {
      entries.put(key, entry);
    }
  }

  void clear() {
    entries.clear();
  }

  /** {@code SET key value NX PX ttl}. */
  boolean setIfAbsent(String key, String value, long ttlMillis) {
    requireMemory();
    if (get(key) != null) {
      return false;
    }
    put(key, null, new Entry(value, millis() + ttlMillis));
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
      case "HSET" -> hash(words[1]);
      case "TIME" -> time();
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

  private void requireMemory() {
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
    put(words[1], before, new Entry(words[2], expiresAt));
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
    Entry before = get(key);
    if (before == null) {
      return 0L;
    }
    if (ttlMillis <= 0) {
      return delete(key);
    }
    put(key, before, new Entry(before.value(), millis() + ttlMillis));
    return 1L;
  }

  private Object type(String key) {
    Entry entry = get(key);
    if (entry == null) {
      return new Lua.Status("none");
    }
    return entry.value() == null ? new Lua.Status("hash") : STRING;
  }

  private Object hash(String key) {
    requireMemory();
    Entry before = get(key);
    if (before != null && before.value() != null) {
      throw new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
    }
    put(key, before, before == null ? new Entry(null, Entry.NEVER) : before);
    return before == null ? 1L : 0L;
  }

  private void put(String key, @Nullable Entry before, Entry after) {
    entries.put(key, after);
    changes.changed(key, before, after);
  }
}
