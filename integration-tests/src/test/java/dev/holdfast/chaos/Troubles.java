package dev.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;

/** When there were faults, and when they were healed. */
final class Troubles {
  private final List<Trouble> all = new ArrayList<>();

  /** Faults that were healed together, and since when a quorum was out of quarantine after that. */
  private static final class Trouble {
    private final long began;
    private long healed = Long.MAX_VALUE;
    private long voting = Long.MIN_VALUE;
    private long lostNanos;

    private Trouble(long began) {
      this.began = began;
    }
  }

  /** The end of a trouble. */
  record Healing(long at, long voting, long lostNanos) {}

  void hear(Entry entry) {
    if (entry instanceof Entry.Began began) {
      if (all.isEmpty() || last().healed != Long.MAX_VALUE) {
        all.add(new Trouble(began.at()));
      }
    } else if (entry instanceof Entry.Healed healed) {
      last().healed = healed.at();
    } else if (entry instanceof Entry.Voting voting) {
      last().voting = voting.since();
      last().lostNanos = voting.lostNanos();
    }
  }

  private Trouble last() {
    return all.get(all.size() - 1);
  }

  List<Healing> healings() {
    return all.stream()
        .filter(trouble -> trouble.healed != Long.MAX_VALUE)
        .map(trouble -> new Healing(trouble.healed, trouble.voting, trouble.lostNanos))
        .toList();
  }

  /**
   * Whether there was one in that time, or one had been healed less than the longest ttl before.
   */
  boolean reach(long from, long to) {
    long before = from - Settings.MAX_TTL.toNanos();
    return all.stream().anyMatch(trouble -> trouble.began <= to && trouble.healed >= before);
  }

  /** Whether there is one at that time. */
  boolean isAt(long time) {
    return all.stream().anyMatch(trouble -> trouble.began <= time && time <= trouble.healed);
  }

  /** When the last one before that time was healed. */
  long healedBefore(long time) {
    return all.stream()
        .mapToLong(trouble -> trouble.healed)
        .filter(healed -> healed < time)
        .max()
        .orElse(Long.MIN_VALUE);
  }
}
