package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Set;

/**
 * A kind of lock that is measured.
 *
 * @param id the name by which it is chosen
 * @param label the name by which it is shown
 * @param family its relation to Holdfast
 * @param reach how many servers it can use
 * @param abilities its further abilities
 * @param commands the commands that it sends, in lower case, except for scripts and subscriptions.
 *     Commands that only its scripts call are not among them, because servers count those as well.
 * @param opener connects it
 */
public record Kind(
    String id,
    String label,
    Family family,
    Reach reach,
    Set<Ability> abilities,
    Set<String> commands,
    Opener opener) {
  /** The relation of a lock to Holdfast. */
  public enum Family {
    /** A bare driver, without the logic of a lock. */
    FLOOR,
    /** Holdfast. */
    OURS,
    /** Another library. */
    PEER
  }

  /** The number of servers that a lock can use. */
  public enum Reach {
    /** One. */
    ONE_NODE,
    /** Three or more, and a majority of them. */
    MAJORITY,
    /** One, or a majority of more. */
    ANY
  }

  /** An ability of a lock beyond acquisition and release. */
  public enum Ability {
    /** {@link Contestant#lockedAsync}. */
    ASYNC,
    /** {@link Contestant#keep}. */
    KEEP
  }

  /** Connects a lock to servers. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Connects to the servers.
     *
     * @param uris of the servers, such as {@code redis://127.0.0.1:6379}
     * @return a lock, to be closed by the caller
     * @throws Exception if that fails
     */
    Contestant open(List<String> uris) throws Exception;
  }

  /** Returns whether this can be a lock over so many servers. */
  boolean reaches(int nodes) {
    return switch (reach) {
      case ONE_NODE -> nodes == 1;
      case MAJORITY -> nodes > 1;
      case ANY -> true;
    };
  }
}
