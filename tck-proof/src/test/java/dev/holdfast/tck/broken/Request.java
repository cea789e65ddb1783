package dev.holdfast.tck.broken;

import dev.holdfast.tck.broken.NodeError.Kind;
import java.time.Duration;
import java.util.function.Function;

/**
 * One command as it goes to a node.
 *
 * @param verb its action
 * @param withSource whether it brings the script's source along
 * @param name of the lock that it is about
 * @param text its difference from others
 * @param work the action of the node, as one step
 */
record Request(
    Verb verb, boolean withSource, String name, String text, Function<FakeKeys, Object> work) {

  /** The kind of a request. */
  enum Verb {
    SET,
    EXTEND,
    RELEASE,
    KEEP,
    LOOK,
    REMOVE,
    SWAP;

    boolean isScript() {
      return this != SET;
    }

    /** Whether a node refuses it that can take no more data. */
    boolean needsRoom() {
      return this == SET || this == EXTEND || this == REMOVE || this == SWAP;
    }

    boolean writes() {
      return this != LOOK;
    }
  }

  /** A node's answer to a request with a token. */
  enum Answer {
    MINE,
    OTHER,
    MISSING,
    OTHER_TYPE
  }

  /** A node's answer to an inspection. */
  record Seen(String token, Duration left) {
    private static final String OTHER_TYPE = "(no lock)";

    boolean isOfOtherType() {
      return token.equals(OTHER_TYPE);
    }
  }

  static Request of(Verb verb, String name, String rest, Function<FakeKeys, Object> work) {
    return new Request(verb, false, name, verb + " " + name + " " + rest, work);
  }

  /** Takes the lock if it is free. */
  static Request set(String name, String token, Duration ttl) {
    return of(
        Verb.SET,
        name,
        token + " " + ttl.toNanos(),
        keys -> {
          if (keys.isOfOtherType(name)) {
            return Answer.OTHER_TYPE;
          }
          if (keys.contains(name)) {
            return Answer.OTHER;
          }
          keys.put(name, token, ttl);
          return Answer.MINE;
        });
  }

  /**
   * Moves the end of the lock to a later time if the token holds it. Where the key is missing it is
   * put back, but that is no vote.
   */
  static Request extend(String name, String token, Duration ttl) {
    return of(
        Verb.EXTEND,
        name,
        token + " " + ttl.toNanos(),
        keys -> {
          if (!keys.contains(name)) {
            keys.put(name, token, ttl);
            return Answer.MISSING;
          }
          if (keys.holds(name, token) && keys.left(name).compareTo(ttl) < 0) {
            keys.expire(name, ttl);
          }
          return compared(keys, name, token);
        });
  }

  /**
   * Releases the lock if the token holds it, now or, to keep other owners out, later.
   *
   * @param mayLengthen whether the key may live longer than before
   */
  static Request release(String name, String token, Duration keep, boolean mayLengthen) {
    return of(
        mayLengthen && !keep.isZero() ? Verb.KEEP : Verb.RELEASE,
        name,
        token + " " + keep.toNanos(),
        keys -> {
          Answer answer = compared(keys, name, token);
          if (answer == Answer.MINE && keep.isZero()) {
            keys.remove(name);
          } else if (answer == Answer.MINE
              && (mayLengthen || keys.left(name).compareTo(keep) > 0)) {
            keys.expire(name, keep);
          }
          return answer;
        });
  }

  /** Replaces a token by another, with a ttl of its own. */
  static Request swap(String name, String from, String token, Duration ttl) {
    return of(
        Verb.SWAP,
        name,
        from + " " + token + " " + ttl.toNanos(),
        keys -> {
          Answer answer = compared(keys, name, from);
          if (answer == Answer.MINE) {
            keys.put(name, token, ttl);
          }
          return answer;
        });
  }

  /** Tells who holds the lock. */
  static Request look(String name) {
    return of(
        Verb.LOOK,
        name,
        "",
        keys ->
            keys.contains(name)
                ? new Seen(keys.token(name).orElse(Seen.OTHER_TYPE), keys.left(name))
                : Answer.MISSING);
  }

  /** Removes the lock, whichever owner holds it. */
  static Request remove(String name) {
    return of(
        Verb.REMOVE,
        name,
        "",
        keys -> {
          if (keys.isOfOtherType(name)) {
            return new NodeError(Kind.MENDABLE, "it is no lock");
          }
          boolean there = keys.contains(name);
          keys.remove(name);
          return there ? Answer.MINE : Answer.MISSING;
        });
  }

  static Answer compared(FakeKeys keys, String name, String token) {
    if (!keys.contains(name)) {
      return Answer.MISSING;
    }
    if (keys.isOfOtherType(name)) {
      return Answer.OTHER_TYPE;
    }
    return keys.holds(name, token) ? Answer.MINE : Answer.OTHER;
  }

  /** The same for a node that does not know the script. */
  Request sourced() {
    return new Request(verb, true, name, "source of " + text, work);
  }
}
