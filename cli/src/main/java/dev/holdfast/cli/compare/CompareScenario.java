package dev.holdfast.cli.compare;

import java.util.List;
import java.util.stream.Stream;

/** A scenario of the comparison. */
enum CompareScenario {
  HOLDER_CRASHES("holder crashes"),
  HOLDER_IS_SLOW("holder is slow"),
  NODE_DIES("node dies"),
  MASTER_FAILS_OVER("master fails over"),
  CLOCKS_APART("clocks apart"),
  CONTENTION("contention");

  private final String label;

  CompareScenario(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  /**
   * Returns the locks that are compared. The bare pattern is compared only in the scenario in which
   * it differs from the checked one.
   */
  List<CompareLock> locks() {
    return Stream.of(CompareLock.values())
        .filter(lock -> lock != CompareLock.BARE || this == HOLDER_IS_SLOW)
        .toList();
  }

  /**
   * Measures this scenario with a lock, on servers of its own.
   *
   * @param seconds the time for which contention is measured. The other scenarios end by themselves
   */
  CompareCells measure(CompareLock lock, int seconds) throws Exception {
    return switch (this) {
      case HOLDER_CRASHES -> CompareHolders.crash(lock);
      case HOLDER_IS_SLOW -> CompareHolders.slow(lock);
      case NODE_DIES -> CompareNodes.death(lock);
      case MASTER_FAILS_OVER -> CompareNodes.failover(lock);
      case CLOCKS_APART -> CompareClocks.apart(lock);
      case CONTENTION -> new CompareContention(lock, seconds).measure();
    };
  }
}
