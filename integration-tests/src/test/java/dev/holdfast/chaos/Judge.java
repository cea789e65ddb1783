package dev.holdfast.chaos;

import dev.holdfast.chaos.Counter.Effect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads a journal to its end, and counts what must not be. */
final class Judge {
  private final Map<String, Integer> faults = new TreeMap<>();
  private final Map<String, Counter> counters = new HashMap<>();
  private final Leases leases = new Leases();
  private final Troubles troubles = new Troubles();
  private final Overruns overruns = new Overruns();
  private final List<Entry.Seen> seen = new ArrayList<>();
  private final List<String> lostUpdates = new ArrayList<>();
  private long writes;
  private long refused;

  /** The next entry. */
  void hear(Entry entry) {
    leases.hear(entry);
    troubles.hear(entry);
    if (entry instanceof Entry.Got got) {
      count(got.name(), got);
    } else if (entry instanceof Entry.Wrote wrote) {
      writes++;
      count(wrote.name(), wrote);
    } else if (entry instanceof Entry.Began began) {
      faults.merge(began.fault(), 1, Integer::sum);
    } else if (entry instanceof Entry.Called called) {
      overruns.add(called.overrunNanos());
    } else if (entry instanceof Entry.Seen sighting) {
      seen.add(sighting);
    }
  }

  private void count(String name, Entry entry) {
    Effect effect = counters.computeIfAbsent(name, Counter::new).after(entry);
    if (effect == Effect.REFUSED) {
      refused++;
    } else if (effect == Effect.LOST_ANOTHER) {
      lostUpdates.add(entry.line());
    }
  }

  /** After all entries. */
  Verdict verdict() {
    Recoveries recoveries = new Recoveries(troubles.healings(), leases);
    return new Verdict(
        faults,
        leases.count(),
        writes,
        refused,
        leases.overlaps(),
        lostUpdates,
        leases.regressions(),
        new Orphans(leases, troubles).among(seen),
        recoveries.late(),
        overruns.count(),
        overruns.of999In1000(),
        overruns.longest(),
        Duration.ofNanos(recoveries.longestNanos()));
  }
}
