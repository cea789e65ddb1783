package dev.holdfast.redis;

import java.util.ArrayList;
import java.util.List;

/** The causes of exceptions that a driver throws. Stateless. */
public final class Causes {
  /** More than any driver nests. A chain that is a cycle ends here. */
  private static final int MAX_CAUSES = 16;

  private Causes() {}

  /**
   * Returns an exception and its causes.
   *
   * @param thrown the exception of a driver
   * @return the exception first, then its cause, and so on, up to 16 of them
   */
  public static List<Throwable> of(Throwable thrown) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable at = thrown; at != null && chain.size() < MAX_CAUSES; at = at.getCause()) {
      chain.add(at);
    }
    return chain;
  }
}
