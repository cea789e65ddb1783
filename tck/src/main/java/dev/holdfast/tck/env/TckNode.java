package dev.holdfast.tck.env;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * One of the independent places in which a backend keeps its locks, seen from behind: reached
 * without any manager. A backend in one place has one node. For one thread at a time.
 */
public interface TckNode {
  /**
   * How errors name it.
   *
   * @return for example {@code 127.0.0.1:7001}
   */
  String address();

  /**
   * How {@link TckEnvironment#openOn} is told of it.
   *
   * @return for example {@code redis://127.0.0.1:7001}
   */
  default String uri() {
    return address();
  }

  /**
   * The same node under another name, as somebody might list it twice.
   *
   * @return another URI of it; empty if it has one alone
   */
  default Optional<String> alias() {
    return Optional.empty();
  }

  /**
   * Returns the URI of this node with a user and a password, who may do all that managers need.
   *
   * @return empty if there is no such user
   */
  default Optional<String> withLogin() {
    return Optional.empty();
  }

  /**
   * Returns the URI of this node with a password and no user, which lets in while the node has the
   * fault {@link TckFault#LOGIN_NEEDED}.
   *
   * @return empty if a password alone lets nobody in
   */
  default Optional<String> withPassword() {
    return Optional.empty();
  }

  /**
   * Returns the URI of a space of names of its own on this server, such as another database.
   *
   * @return empty if there is none
   */
  default Optional<String> otherDatabase() {
    return Optional.empty();
  }

  /**
   * Returns the holder of a lock on this node.
   *
   * @param name of the lock
   * @return the token; empty if nobody does
   */
  Optional<String> holder(String name);

  /**
   * How long what is held here stays if nobody does anything.
   *
   * @param name of the lock
   * @return zero if nobody holds it
   */
  Duration timeToLive(String name);

  /**
   * Takes a lock here as another owner would, whoever holds it.
   *
   * @param name of the lock
   * @param token of that owner
   * @param ttl how long
   */
  void occupy(String name, String token, Duration ttl);

  /**
   * Takes a lock here as clients of other libraries do, in one step, if nobody holds it: by {@code
   * SET key token NX PX ttl}.
   *
   * @param name of the lock
   * @param token of that client
   * @param ttl how long
   * @return whether it is the client's now
   * @throws UnsupportedOperationException if there are no such clients
   */
  default boolean occupyIfFree(String name, String token, Duration ttl) {
    throw new UnsupportedOperationException("other libraries have no locks on these nodes");
  }

  /**
   * Removes what is held here, whoever holds it.
   *
   * @param name of the lock
   */
  void remove(String name);

  /**
   * Returns the faults that {@link #begin} can make.
   *
   * @return the same set every time
   */
  default Set<TckFault> faults() {
    return Set.of();
  }

  /**
   * Begins a fault, and returns when it is in force.
   *
   * @param fault one of {@link #faults}
   * @param name of the lock that it is about, where it is about one
   */
  default void begin(TckFault fault, String name) {
    throw new UnsupportedOperationException("node " + address() + " cannot be " + fault);
  }

  /**
   * Ends a fault, and returns when it is over. Nothing happens if it is over already.
   *
   * @param fault what was begun
   * @param name as it was begun
   */
  default void end(TckFault fault, String name) {}

  /**
   * How many requests of managers have reached it, connecting and what this interface does left
   * out. Only differences count.
   *
   * @return empty if nobody counts
   */
  default OptionalLong requests() {
    return OptionalLong.empty();
  }

  /**
   * How many connections managers have to it now.
   *
   * @return empty if nobody counts
   */
  default OptionalInt connections() {
    return OptionalInt.empty();
  }

  /**
   * Returns the number of names for whose releases managers are subscribed here now, counted once
   * for each manager. It may include a constant number for each connection.
   *
   * @return empty if nobody counts
   */
  default OptionalInt subscriptions() {
    return OptionalInt.empty();
  }

  /**
   * Puts something between managers and this node that can lose what they say. A new one each time,
   * closed by the kit.
   *
   * @return empty if there is no such thing
   */
  default Optional<TckLink> link() {
    return Optional.empty();
  }
}
