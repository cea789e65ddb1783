package dev.holdfast.benchmarks;

/** Something that is measured of contestants in every round, in the order of columns. */
public enum Figure {
  KEPT("kept", 2, Shown.MEDIAN),
  PER_SECOND("a second", 0, Shown.WITH_RATIO),
  GRANTS("grants/s", 0, Shown.WITH_RATIO),
  P50("p50, µs", 0, Shown.WITH_RATIO),
  P99("p99, µs", 0, Shown.WITH_RATIO),
  ALLOCATED("KB each", 1, Shown.WITH_RATIO),
  WAIT_P99("p99 wait, ms", 1, Shown.MEDIAN),
  WAIT_P99_IDEAL("p99, × ideal", 2, Shown.MEDIAN),
  WAIT_LONGEST("longest wait, ms", 0, Shown.MOST),
  WAIT_LONGEST_IDEAL("longest, × ideal", 2, Shown.MOST),
  LONGEST_CALL("longest call, ms", 0, Shown.MOST),
  STALL("stall, ms", 0, Shown.MOST),
  LEAST_SHARE("least share", 2, Shown.LEAST),
  COMMANDS_EACH("commands each", 1, Shown.MEDIAN),
  COMMANDS_PER_SECOND("commands/s", 0, Shown.MEDIAN),
  CORES("cores", 2, Shown.MEDIAN),
  HEAP_EACH("heap each, B", 0, Shown.MEDIAN),
  THREADS("more threads", 0, Shown.MOST),
  LOST("lost", 0, Shown.MOST),
  FIRST_LOCK("ms", 0, Shown.WITH_RATIO),
  FAILED("failed", 0, Shown.MOST);

  private final String label;
  private final int decimals;
  private final Shown shown;

  Figure(String label, int decimals, Shown shown) {
    this.label = label;
    this.decimals = decimals;
    this.shown = shown;
  }

  /** The round that is shown. */
  private enum Shown {
    MEDIAN,
    /** And that of its ratio to the floor's. */
    WITH_RATIO,
    /** The worst round is shown: for what must not happen, no round may hide behind others. */
    MOST,
    LEAST
  }

  /**
   * Returns the name of the figure, with its unit.
   *
   * @return as the head of a column
   */
  public String label() {
    return label;
  }

  /**
   * Returns the number of decimals that are shown.
   *
   * @return digits after the point
   */
  public int decimals() {
    return decimals;
  }

  /**
   * Returns whether the ratio to the floor's figure is shown, too.
   *
   * @return false for figures that have a scale of their own
   */
  public boolean isCompared() {
    return shown == Shown.WITH_RATIO;
  }

  /**
   * Returns the value that is shown of the rounds.
   *
   * @param rounds all of them
   * @return the median, or the worst round's value of figures that count by their worst: the
   *     longest wait and call, the least share, losses and failures
   */
  public double of(Spread rounds) {
    return switch (shown) {
      case MEDIAN, WITH_RATIO -> rounds.median();
      case MOST -> rounds.most();
      case LEAST -> rounds.least();
    };
  }
}
