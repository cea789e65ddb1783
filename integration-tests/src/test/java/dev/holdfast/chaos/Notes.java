package dev.holdfast.chaos;

import dev.holdfast.Lease;
import java.time.Duration;
import java.util.concurrent.Callable;

/** A client's notes on its leases on one name, and on what it reads there. */
final class Notes {
  /** Two looks at the clock that are further apart do not tell when something between them was. */
  private static final long EXACT_NANOS = 200_000;

  private final Journal journal;
  private final Journal.Reader reader;
  private final Counter counter;
  private final LostTime lostTime;
  private final String name;

  Notes(Journal journal, Journal.Reader reader, String name, LostTime lostTime) {
    this.journal = journal;
    this.reader = reader;
    this.name = name;
    this.lostTime = lostTime;
    this.counter = new Counter(name);
  }

  /** The validity of a lease by its own word, at one time. */
  private record Belief(long at, long until) {
    boolean isHeld() {
      return until > at;
    }

    static Belief in(Lease lease) {
      while (true) {
        long before = System.nanoTime();
        long remaining = lease.remaining().toNanos();
        if (System.nanoTime() - before <= EXACT_NANOS) {
          return new Belief(before, before + remaining);
        }
      }
    }
  }

  /** It was delivered, or false if it is over already. */
  boolean got(String client, Lease lease) {
    Belief belief = Belief.in(lease);
    if (belief.isHeld()) {
      journal.append(
          new Entry.Got(client, name, fence(lease), lease.token(), belief.at, belief.until));
    }
    return belief.isHeld();
  }

  /** It is believed in, or false if not. */
  boolean held(Lease lease) {
    Belief belief = Belief.in(lease);
    if (belief.isHeld()) {
      journal.append(new Entry.Held(lease.token(), belief.at, belief.until));
    }
    return belief.isHeld();
  }

  void ending(Lease lease) {
    Belief belief = Belief.in(lease);
    journal.append(new Entry.Ending(lease.token(), belief.at, belief.isHeld()));
  }

  /** Its release was answered. Others are kept out until that time on purpose. */
  void released(Lease lease, long keptUntil) {
    journal.append(new Entry.Released(lease.token(), Math.max(System.nanoTime(), keptUntil)));
  }

  /** The value as it is now. */
  long read() {
    reader.read(
        line -> {
          if (counter.mayConcern(line)) {
            counter.after(Entry.parse(line));
          }
        });
    return counter.value();
  }

  void wrote(Lease lease, long read) {
    journal.append(new Entry.Wrote(name, fence(lease), read));
  }

  /** Makes a call that has a limit, and writes down by how much it was exceeded. */
  <T> T timed(String what, Duration limit, Callable<T> call) throws Exception {
    long lostBefore = lostTime.nanos();
    long begun = System.nanoTime();
    try {
      return call.call();
    } finally {
      long overrun = System.nanoTime() - begun - limit.toNanos();
      long lost = lostTime.nanos() - lostBefore;
      journal.append(new Entry.Called(what, Math.max(0, overrun - lost)));
    }
  }

  private static long fence(Lease lease) {
    return lease.fencingToken().orElseThrow();
  }
}
