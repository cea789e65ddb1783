package dev.holdfast.tck.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The exceptions that a test caught and ignored, because they are about another rule than its own.
 * They are reported with a failure that follows, because they often explain it. Threads that a test
 * starts add to those of the test. Thread-safe.
 */
public final class IgnoredFailures {
  /** The maximum number of failures shown for each test. More would not help a reader. */
  private static final int MAX_SHOWN = 3;

  private static final InheritableThreadLocal<@Nullable IgnoredFailures> OF_THIS_TEST =
      new InheritableThreadLocal<>();

  private final List<Throwable> first = new ArrayList<>();
  private int count;

  /** Begins a test on the current thread. */
  public static IgnoredFailures begin() {
    IgnoredFailures begun = new IgnoredFailures();
    OF_THIS_TEST.set(begun);
    return begun;
  }

  /** Adds an exception to those of the test that runs on this thread, if one does. */
  static void add(Throwable caught) {
    IgnoredFailures present = OF_THIS_TEST.get();
    if (present != null) {
      present.count(caught);
    }
  }

  private synchronized void count(Throwable caught) {
    count++;
    if (first.size() < MAX_SHOWN) {
      first.add(caught);
    }
  }

  /** Returns a paragraph about the first exceptions, or an empty text if there are none. */
  public synchronized String text() {
    return first.isEmpty()
        ? ""
        : first.stream()
            .map(caught -> "\n  " + caught)
            .collect(
                Collectors.joining(
                    "", "\nBefore that, the test went on after " + count + " of:", ""));
  }
}
