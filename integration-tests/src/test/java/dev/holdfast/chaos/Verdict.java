package dev.holdfast.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The findings of the {@link Judge}. The texts say what and when, for a person.
 *
 * @param faults how often each kind was done
 * @param grants leases that were delivered
 * @param writes values that were written under them
 * @param refused those of them that came too late, and were refused for their fencing tokens
 * @param overlaps two that believed in their leases at once
 * @param lostUpdates values stored over others that their writer had not read
 * @param regressions grants with no larger fencing token than the one before
 * @param orphans keys that were left on nodes for longer than they should be
 * @param late recoveries that took longer than they may
 * @param overrun of calls beyond their own limits, of 999 in 1,000
 * @param recovery the longest from healing, or from the end of quarantines that blocked a quorum
 */
record Verdict(
    Map<String, Integer> faults,
    long grants,
    long writes,
    long refused,
    List<String> overlaps,
    List<String> lostUpdates,
    List<String> regressions,
    List<String> orphans,
    List<String> late,
    long calls,
    Duration overrun,
    Duration longestOverrun,
    Duration recovery) {

  static final Duration LONGEST_OVERRUN = Duration.ofMillis(50);

  /** Returns what is wrong, in the words of a failed test. */
  Map<String, Object> wrong() {
    Map<String, Object> wrong = new TreeMap<>();
    put(wrong, "overlaps", overlaps);
    put(wrong, "lost updates", lostUpdates);
    put(wrong, "token regressions", regressions);
    put(wrong, "orphans", orphans);
    put(wrong, "late recoveries", late);
    if (overrun.compareTo(LONGEST_OVERRUN) > 0) {
      wrong.put("p99.9 of overrun", overrun);
    }
    return wrong;
  }

  /** Returns a row of the table in docs/chaos.md. */
  String row(String what) {
    return "| %s | %d | %d of %d kinds | %d | %d | %d | %d | %d | %d | %.1f | %.1f | %.2f |"
        .formatted(
            what,
            grants,
            faults.values().stream().mapToInt(Integer::intValue).sum(),
            faults.size(),
            overlaps.size(),
            lostUpdates.size(),
            refused,
            regressions.size(),
            orphans.size(),
            calls,
            overrun.toNanos() / 1e6,
            longestOverrun.toNanos() / 1e6,
            recovery.toNanos() / 1e9);
  }

  private static void put(Map<String, Object> wrong, String what, List<String> found) {
    if (!found.isEmpty()) {
      wrong.put(what, found);
    }
  }
}
