package dev.holdfast.tck.env;

import java.util.List;
import java.util.OptionalInt;

/** A proxy between managers and one node, which can lose requests and replies. */
public interface TckLink extends AutoCloseable {
  /** The fate of a request. */
  enum Fate {
    /** The request reaches the node, but the connection ends before the reply. */
    REPLY_CUT,
    /** The request is lost, and the connection ends. */
    CUT,
    /** The request is lost, and the connection stays. */
    LOST,
    /**
     * The request reaches the node when the link is {@linkplain #mend repaired}, and so does each
     * later request on its connection, in the same order, even if the connection has ended by then.
     * Requests on other connections overtake it.
     */
    LATE
  }

  /**
   * Returns the URI of this link for {@link TckEnvironment#openOn}.
   *
   * @return a URI to use in place of the node's
   */
  String uri();

  /**
   * Decides the fate of requests about a lock that are yet to come.
   *
   * @param name the name of the lock
   * @param passing how many of them pass first
   * @param fate the fate of all later requests, until {@link #mend}. {@link Fate#LATE} applies to
   *     the next request and to all that follow on its connection.
   */
  void after(String name, int passing, Fate fate);

  /**
   * Returns the managers' requests about a lock, whatever their fate.
   *
   * @param name the name of the lock
   * @return each request in the order in which they came. Two are equal if all their bytes are
   *     equal.
   */
  List<String> requests(String name);

  /**
   * Returns the number of connections that managers have made to this link since it was created,
   * including those that have ended.
   *
   * @return the number, or empty if it is not counted
   */
  default OptionalInt connections() {
    return OptionalInt.empty();
  }

  /** Ends all connections, and each new one at once, until {@link #mend}. Nothing is late then. */
  void cut();

  /** Does what {@link #cut} does, by a reset of the connections if this link can make one. */
  default void reset() {
    cut();
  }

  /**
   * Answers each request itself from now on, by an error reply of the node, and passes none on,
   * until {@link #mend}.
   *
   * @param error the text of the reply, its code first
   * @throws UnsupportedOperationException if this link only loses requests
   */
  default void refuse(String error) {
    throw new UnsupportedOperationException("this link does not answer requests");
  }

  /** Lets all requests through again. Late requests have been sent on when this returns. */
  void mend();

  @Override
  void close();
}
