package dev.holdfast.benchmarks;

import java.util.List;

/** Further locks to be measured; found by {@link java.util.ServiceLoader}. */
public interface Roster {
  /**
   * Lists them.
   *
   * @return in the order in which they are shown
   */
  List<Kind> kinds();
}
