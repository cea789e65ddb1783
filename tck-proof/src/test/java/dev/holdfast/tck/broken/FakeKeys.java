package dev.holdfast.tck.broken;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The keys of one fake node: a value and an end under each name. Guarded by its node. */
class FakeKeys {
  private final Map<String, Entry> entries = new HashMap<>();

  /**
   * One key.
   *
   * @param token empty if it is of another type than a lock
   */
  private record Entry(Optional<String> token, long since, Duration ttl) {
    static Entry of(Optional<String> token, Duration ttl) {
      return new Entry(token, System.nanoTime(), ttl);
    }

    Duration left() {
      Duration left = ttl.minusNanos(System.nanoTime() - since);
      return left.isNegative() ? Duration.ZERO : left;
    }
  }

  /** Returns the key of a lock. */
  String key(String name) {
    return name;
  }

  /** Whether a key goes that has so much left of its ttl. */
  boolean isOver(Duration left, Duration ttl) {
    return left.isZero();
  }

  boolean contains(String name) {
    Entry entry = entries.get(key(name));
    if (entry != null && isOver(entry.left(), entry.ttl())) {
      entries.remove(key(name));
      return false;
    }
    return entry != null;
  }

  boolean isOfOtherType(String name) {
    return contains(name) && token(name).isEmpty();
  }

  boolean holds(String name, String token) {
    return token(name).equals(Optional.of(token));
  }

  Optional<String> token(String name) {
    return contains(name) ? entry(name).token() : Optional.empty();
  }

  Duration left(String name) {
    return contains(name) ? entry(name).left() : Duration.ZERO;
  }

  /** Returns the names of all keys. */
  Set<String> names() {
    return Set.copyOf(entries.keySet());
  }

  void put(String name, String token, Duration ttl) {
    entries.put(key(name), Entry.of(Optional.of(token), ttl));
  }

  void putOfOtherType(String name, Duration ttl) {
    entries.put(key(name), Entry.of(Optional.empty(), ttl));
  }

  /** Sets another end, which may be earlier. */
  void expire(String name, Duration ttl) {
    if (contains(name)) {
      entries.put(key(name), Entry.of(entry(name).token(), ttl));
    }
  }

  void remove(String name) {
    entries.remove(key(name));
  }

  void clear() {
    entries.clear();
  }

  private Entry entry(String name) {
    return Objects.requireNonNull(entries.get(key(name)));
  }
}
