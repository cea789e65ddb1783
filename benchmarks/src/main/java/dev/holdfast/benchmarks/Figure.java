package dev.holdfast.benchmarks;

/** Something that is measured of contestants in every round; in the order of columns. */
public enum Figure {
  KEPT("kept", 2, false),
  PER_SECOND("a second", 0, true),
  GRANTS("grants/s", 0, true),
  P50("p50, µs", 0, true),
  P99("p99, µs", 0, true),
  ALLOCATED("KB each", 1, true),
  WAIT_P99("p99 wait, ms", 1, false),
  WAIT_P99_IDEAL("p99, × ideal", 2, false),
  WAIT_LONGEST("longest wait, ms", 0, false),
  WAIT_LONGEST_IDEAL("longest, × ideal", 2, false),
  LONGEST_CALL("longest call, ms", 0, false),
  LEAST_SHARE("least share", 2, false),
  COMMANDS_EACH("commands each", 1, false),
  COMMANDS_PER_SECOND("commands/s", 0, false),
  CORES("cores", 2, false),
  HEAP_EACH("heap each, B", 0, false),
  THREADS("more threads", 0, false),
  LOST("lost", 0, false),
  FIRST_LOCK("ms", 0, true),
  FAILED("failed", 0, false);

  private final String label;
  private final int decimals;
  private final boolean compared;

  Figure(String label, int decimals, boolean compared) {
    this.label = label;
    this.decimals = decimals;
    this.compared = compared;
  }

  /**
   * Its name and unit.
   *
   * @return as the head of a column
   */
  public String label() {
    return label;
  }

  /**
   * How exactly it is shown.
   *
   * @return digits after the point
   */
  public int decimals() {
    return decimals;
  }

  /**
   * Whether its ratio to the floor's is shown, too.
   *
   * @return false for those that have a scale of their own
   */
  public boolean isCompared() {
    return compared;
  }
}
