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
   * Returns the address by which errors name the node.
   *
   * @return for example {@code 127.0.0.1:7001}
   */
  String address();

  /**
   * Returns the URI of this node for {@link TckEnvironment#openOn}.
   *
   * @return for example {@code redis://127.0.0.1:7001}
   */
  default String uri() {
    return address();
  }

  /**
   * Returns another URI of this node, as a user may list a node twice by mistake.
   *
   * @return another URI, or empty if the node has only one
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
   * @return the URI, or empty if a password alone is never enough
   */
  default Optional<String> withPassword() {
    return Optional.empty();
  }

  /**
   * Returns the URI of this node with a user who needs no password, and who may do all that
   * managers need, also while the node has the fault {@link TckFault#LOGIN_NEEDED}.
   *
   * @return the URI, or empty if there is no such user
   */
  default Optional<String> withUserAlone() {
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
   * @param name the name of the lock
   * @return the token, or empty if the lock is free
   */
  Optional<String> holder(String name);

  /**
   * Returns how long a lock stays here if it is neither extended nor released.
   *
   * @param name the name of the lock
   * @return the time to live, or zero if the lock is free
   */
  Duration timeToLive(String name);

  /**
   * Takes a lock here for another owner, even if it is held.
   *
   * @param name the name of the lock
   * @param token the token of that owner
   * @param ttl how long
   */
  void occupy(String name, String token, Duration ttl);

  /**
   * Takes a lock here as clients of other libraries do, in one atomic step, if it is free: by
   * {@code SET key token NX PX ttl}.
   *
   * @param name the name of the lock
   * @param token the token of that client
   * @param ttl how long
   * @return whether the client holds the lock now
   * @throws UnsupportedOperationException if there are no such clients
   */
  default boolean occupyIfFree(String name, String token, Duration ttl) {
    throw new UnsupportedOperationException("other libraries have no locks on these nodes");
  }

  /**
   * Removes a lock here, regardless of its holder.
   *
   * @param name the name of the lock
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
   * Ends a fault, and returns when it is over. Does nothing if it is over already.
   *
   * @param fault the fault that was begun
   * @param name the name with which it was begun
   */
  default void end(TckFault fault, String name) {}

  /**
   * Returns the number of requests of managers that have reached this node, without those to
   * connect and those of this interface. Only differences count.
   *
   * @return the number, or empty if it is not counted
   */
  default OptionalLong requests() {
    return OptionalLong.empty();
  }

  /**
   * Returns the number of connections that managers have to this node now.
   *
   * @return the number, or empty if it is not counted
   */
  default OptionalInt connections() {
    return OptionalInt.empty();
  }

  /**
   * Returns the number of names for whose releases managers are subscribed here now, counted once
   * for each manager. It may include a constant number for each connection.
   *
   * @return the number, or empty if it is not counted
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
