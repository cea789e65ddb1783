package dev.holdfast.core;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One line of waiters for each name. Only the head of a line talks to the backend, so a thousand
 * waiters cost what one costs, and they are served in the order in which they came.
 */
final class WaitingLines {
  /** How often in a row a lock passes from one of a line to the next before others may get it. */
  private static final int MOST_IN_ROW = 8;

  private final ConcurrentHashMap<String, Line> lines = new ConcurrentHashMap<>();

  /** Where somebody who came stands. */
  enum Place {
    HEAD,
    BEHIND
  }

  /** Joins the line. Somebody who does not wait joins an empty line only. */
  Place enter(Acquisition acquisition) {
    Line line =
        lines.compute(
            acquisition.name(),
            (name, present) -> {
              if (present == null) {
                return new Line(acquisition);
              }
              if (acquisition.waits()) {
                present.behind().add(acquisition);
              }
              return present;
            });
    return line.head == acquisition ? Place.HEAD : Place.BEHIND;
  }

  /** Leaves the line, whether at its head or in its midst. The next at the head takes its turn. */
  void leave(Acquisition acquisition, boolean granted) {
    boolean[] wasHead = {false};
    Line line =
        lines.computeIfPresent(
            acquisition.name(),
            (name, present) -> {
              if (present.head != acquisition) {
                present.behind().remove(acquisition);
                return present;
              }
              wasHead[0] = true;
              return present.advance() ? present : null;
            });
    if (line != null && wasHead[0]) {
      line.pass(granted);
    }
  }

  /** Tells the head of a line that the lock may be free. */
  void wake(String name) {
    Line line = lines.get(name);
    if (line != null) {
      if (line.inRow.compareAndSet(MOST_IN_ROW, 0)) {
        line.head.rest();
      } else {
        line.head.wake();
      }
    }
  }

  /**
   * The head of a line, if it pauses, for an attempt that the caller has yet to start. Null once
   * the lock has stayed in this line for so long that others are to have their chance.
   */
  @Nullable Acquisition claimHead(String name) {
    Line line = lines.get(name);
    if (line == null || line.inRow.get() == MOST_IN_ROW) {
      return null;
    }
    Acquisition head = line.head;
    if (!head.claim()) {
      return null;
    }
    line.inRow.incrementAndGet();
    return head;
  }

  /** What came of the head's last attempt, which those behind it report as theirs. */
  void remember(String name, Attempted attempted) {
    Line line = lines.get(name);
    if (line != null) {
      line.last = attempted;
    }
  }

  /** What came of the head's last attempt. */
  @Nullable Attempted last(String name) {
    Line line = lines.get(name);
    return line == null ? null : line.last;
  }

  /** All who wait, at one moment; each head after those behind it. */
  List<Acquisition> all() {
    List<Acquisition> all = new ArrayList<>();
    for (String name : lines.keySet()) {
      lines.computeIfPresent(
          name,
          (n, line) -> {
            all.addAll(line.behind());
            all.add(line.head);
            return line;
          });
    }
    return all;
  }

  /** Changed inside the map's own atomic operations only; the head is read outside of them. */
  private static final class Line {
    private volatile Acquisition head;
    private volatile @Nullable Attempted last;
    private final AtomicInteger turns = new AtomicInteger();
    private final AtomicInteger inRow = new AtomicInteger();
    private volatile boolean afterGrant;
    private @Nullable Set<Acquisition> behind;

    Line(Acquisition head) {
      this.head = head;
    }

    Set<Acquisition> behind() {
      Set<Acquisition> present = behind;
      if (present == null) {
        present = new LinkedHashSet<>();
        behind = present;
      }
      return present;
    }

    /** Gives the head its turn. A row of turns that end at once is a loop, not a deep stack. */
    void pass(boolean granted) {
      afterGrant = granted;
      if (turns.getAndIncrement() == 0) {
        do {
          head.turn(afterGrant);
        } while (turns.decrementAndGet() > 0);
      }
    }

    boolean advance() {
      if (behind == null || behind.isEmpty()) {
        return false;
      }
      Iterator<Acquisition> next = behind.iterator();
      head = next.next();
      next.remove();
      return true;
    }
  }
}
