package dev.holdfast.benchmarks;

import java.util.List;
import java.util.Map;

/** Further locks to be measured, found by {@link java.util.ServiceLoader}. */
public interface Roster {
  /**
   * Lists them.
   *
   * @return in the order in which they are shown
   */
  List<Kind> kinds();

  /**
   * Returns the libraries and their versions.
   *
   * @return versions by name, as {@link Machine#version} finds them
   */
  Map<String, String> versions();
}
