package dev.holdfast.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All grants, and for how long their holders believed in them. */
final class Leases {
  private final Map<String, Lease> byToken = new HashMap<>();
  private final Map<String, List<Lease>> byName = new TreeMap<>();
  private final Map<String, List<Entry.ClockSet>> leaps = new HashMap<>();

  /** The end of a lease as its holder saw it at one time. */
  private record Belief(long at, long until) {
    long untilAfter(List<Entry.ClockSet> leaps) {
      long left = until;
      for (Entry.ClockSet leap : leaps) {
        if (leap.aheadNanos() > 0 && leap.at() >= at && leap.at() < left) {
          left = Math.max(leap.at(), left - leap.aheadNanos());
        }
      }
      return left;
    }
  }

  private static final class Lease {
    private final Entry.Got got;
    private final List<Entry.ClockSet> leaps;
    private final List<Belief> beliefs = new ArrayList<>();
    private long ending = Long.MAX_VALUE;
    private long goneBy = Long.MAX_VALUE;

    /**
     * A grant.
     *
     * @param leaps of the holder's wall clock, in their order. More may follow
     */
    private Lease(Entry.Got got, List<Entry.ClockSet> leaps) {
      this.got = got;
      this.leaps = leaps;
      beliefs.add(new Belief(got.at(), got.until()));
    }

    private void end(Entry.Ending entry) {
      ending = entry.at();
      if (entry.held()) {
        // renewed in the background: a lost lease is not held again
        beliefs.add(new Belief(ending, ending));
      }
    }

    private long believedUntil() {
      return endAfter(leaps);
    }

    /** Returns until when servers keep the lock, whose clocks do not follow that of the holder. */
    private long keptUntil() {
      return endAfter(List.of());
    }

    private long endAfter(List<Entry.ClockSet> taken) {
      long until =
          beliefs.stream().mapToLong(belief -> belief.untilAfter(taken)).max().orElseThrow();
      return Math.min(until, ending);
    }

    @Override
    public String toString() {
      return got.line() + " believed until " + believedUntil();
    }
  }

  void hear(Entry entry) {
    if (entry instanceof Entry.Got got) {
      Lease lease = new Lease(got, leapsOf(got.client()));
      byToken.put(got.token(), lease);
      byName.computeIfAbsent(got.name(), name -> new ArrayList<>()).add(lease);
    } else if (entry instanceof Entry.Held held) {
      of(held.token()).beliefs.add(new Belief(held.at(), held.until()));
    } else if (entry instanceof Entry.ClockSet set) {
      leapsOf(set.client()).add(set);
    } else if (entry instanceof Entry.Ending ending) {
      of(ending.token()).end(ending);
    } else if (entry instanceof Entry.Released released) {
      of(released.token()).goneBy = released.goneBy();
    }
  }

  private List<Entry.ClockSet> leapsOf(String client) {
    return leaps.computeIfAbsent(client, name -> new ArrayList<>());
  }

  private Lease of(String token) {
    Lease lease = byToken.get(token);
    if (lease == null) {
      throw new IllegalArgumentException("nobody got " + token);
    }
    return lease;
  }

  int count() {
    return byToken.size();
  }

  /** Since when nothing may be left of a grant, or empty if no client knew of one. */
  OptionalLong over(String token) {
    Lease lease = byToken.get(token);
    return lease == null
        ? OptionalLong.empty()
        : OptionalLong.of(lease.goneBy == Long.MAX_VALUE ? lease.keptUntil() : lease.goneBy);
  }

  /** When a lock was acquired for the first time after that, or empty if it never was. */
  Map<String, OptionalLong> nextGrants(long after) {
    Map<String, OptionalLong> next = new TreeMap<>();
    byName.forEach(
        (name, leases) ->
            next.put(
                name,
                leases.stream().mapToLong(lease -> lease.got.at()).filter(at -> at > after).min()));
    return next;
  }

  /** Two who believed in their leases of one name at once. */
  List<String> overlaps() {
    List<String> found = new ArrayList<>();
    for (List<Lease> leases : byName.values()) {
      Lease last = null;
      for (Lease next : inOrder(leases)) {
        if (last != null && next.got.at() < last.believedUntil()) {
          found.add(last + " and " + next);
        }
        last = later(last, next);
      }
    }
    return found;
  }

  private static Lease later(@Nullable Lease one, Lease other) {
    return one != null && one.believedUntil() > other.believedUntil() ? one : other;
  }

  /** Grants whose fencing token is not larger than all before. */
  List<String> regressions() {
    List<String> found = new ArrayList<>();
    for (List<Lease> leases : byName.values()) {
      long largest = Long.MIN_VALUE;
      for (Lease next : inOrder(leases)) {
        if (next.got.fence() <= largest) {
          found.add(next + " after " + largest);
        }
        largest = Math.max(largest, next.got.fence());
      }
    }
    return found;
  }

  private static List<Lease> inOrder(List<Lease> leases) {
    return leases.stream().sorted(Comparator.comparingLong(lease -> lease.got.at())).toList();
  }
}
