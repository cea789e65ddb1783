package dev.holdfast.core;

import dev.holdfast.LockException;
import dev.holdfast.core.LockPrimitive.Watch;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One line of waiters for each name. Only the head of a line talks to the backend, so a thousand
 * waiters cost what one costs, and they are served in the order in which they came.
 */
final class WaitingLines {
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
  void leave(Acquisition acquisition) {
    @Nullable Line[] left = {null};
    Line line =
        lines.computeIfPresent(
            acquisition.name(),
            (name, present) -> {
              if (present.head != acquisition) {
                present.behind().remove(acquisition);
                return present;
              }
              left[0] = present;
              return present.advance() ? present : null;
            });
    Line own = left[0];
    if (own != null && line != null) {
      own.pass();
    } else if (own != null) {
      own.listenNoMore();
    }
  }

  /** Has the backend tell the line of releases, from now on until nobody is in it. */
  void listen(String name, LockPrimitive primitive) {
    Line line = lines.get(name);
    if (line != null) {
      line.listen(() -> primitive.watch(name, () -> tell(name)));
    }
  }

  private void tell(String name) {
    Line line = lines.get(name);
    if (line != null) {
      line.head.told();
    }
  }

  /** Tells the head of a line that the lock may be free. */
  void wake(String name, int inRow) {
    Line line = lines.get(name);
    if (line != null) {
      line.head.wake(inRow);
    }
  }

  /**
   * Has the head of a line, if it pauses, leave others a moment for an attempt of theirs.
   *
   * @param others how many, as far as is known
   */
  void rest(String name, int others) {
    Line line = lines.get(name);
    if (line != null) {
      line.head.rest(others);
    }
  }

  /** The head of a line, if it pauses, for an attempt that the caller has yet to start. */
  @Nullable Acquisition claimHead(String name) {
    Line line = lines.get(name);
    if (line == null) {
      return null;
    }
    Acquisition head = line.head;
    return head.claim() ? head : null;
  }

  /** What came of the head's last attempt, which those behind it report as theirs. */
  void remember(String name, Attempted attempted) {
    Line line = lines.get(name);
    if (line != null) {
      line.last = attempted;
    }
  }

  /**
   * What came of the head's last attempt.
   *
   * @param waited whether to prefer the outage that its attempt under way is in so far
   */
  @Nullable Attempted last(String name, boolean waited) {
    Line line = lines.get(name);
    if (line == null) {
      return null;
    }
    LockException soFar = waited ? line.head.outageSoFar() : null;
    return soFar == null ? line.last : new Attempted.Outage(soFar);
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

  /**
   * Who is in it is changed inside the map's own atomic operations only; the head is read outside
   * of them. What it listens to is guarded by its monitor.
   */
  private static final class Line {
    private volatile Acquisition head;
    private volatile @Nullable Attempted last;
    private final AtomicInteger turns = new AtomicInteger();
    private @Nullable Watch watch;
    private boolean over;
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

    synchronized void listen(Supplier<Watch> begun) {
      if (watch == null && !over) {
        watch = begun.get();
      }
    }

    synchronized void listenNoMore() {
      over = true;
      Watch begun = watch;
      if (begun != null) {
        begun.close();
      }
    }

    /** Gives the head its turn. A row of turns that end at once is a loop, not a deep stack. */
    void pass() {
      if (turns.getAndIncrement() == 0) {
        do {
          head.turn();
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
