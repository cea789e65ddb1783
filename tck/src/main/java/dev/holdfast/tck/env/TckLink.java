package dev.holdfast.tck.env;

import java.util.List;
import java.util.OptionalInt;

/** Stands between managers and one node, and can lose what they say to each other. */
public interface TckLink extends AutoCloseable {
  /** The fate of a request. */
  enum Fate {
    /** It reaches the node, but the connection ends before the reply. */
    REPLY_CUT,
    /** It reaches nobody, and the connection ends. */
    CUT,
    /** It reaches nobody, and the connection stays. */
    LOST,
    /**
     * It reaches the node when the link is {@linkplain #mend mended}, and so does what follows it
     * on its connection, in the same order, though the connection may have ended by then. What
     * comes on other connections passes it.
     */
    LATE
  }

  /**
   * How {@link TckEnvironment#openOn} is told of it.
   *
   * @return in place of the node's
   */
  String uri();

  /**
   * Decides the fate of requests about a lock that are yet to come.
   *
   * @param name of the lock
   * @param passing how many of them pass first
   * @param fate of all that follow, until {@link #mend}; if it is {@link Fate#LATE}, of the next
   *     one and of all that follows on its connection
   */
  void after(String name, int passing, Fate fate);

  /**
   * Returns the managers' requests about a lock, whatever their fate.
   *
   * @param name of the lock
   * @return each request in the order in which they came; two are equal if they are the same byte
   *     for byte
   */
  List<String> requests(String name);

  /**
   * Returns the number of connections that managers have made to it since it is there, those that
   * ended included.
   *
   * @return empty if nobody counts
   */
  default OptionalInt connections() {
    return OptionalInt.empty();
  }

  /** Ends all connections, and each new one at once, until {@link #mend}. Nothing is late then. */
  void cut();

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

  /** Lets everything through again. What was late has been sent on when this returns. */
  void mend();

  @Override
  void close();
}
