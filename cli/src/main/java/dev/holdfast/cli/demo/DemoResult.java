package dev.holdfast.cli.demo;

import dev.holdfast.cli.process.ExitCode;
import java.util.List;
import java.util.Locale;

/**
 * The result of a demo.
 *
 * @param end the last view
 * @param found the sum of the numbers in the files
 * @param broken workers that did not end in order, with what they printed
 */
record DemoResult(DemoView end, long found, int freezes, int kills, List<String> broken) {
  /** Updates that were made and are not in the files. */
  long updatesLost() {
    return end.total().written() - found;
  }

  boolean isViolated() {
    return end.total().overlaps() != 0 || updatesLost() != 0;
  }

  /**
   * Returns whether the demo shows anything. It does not if nothing was granted, or if it broke.
   */
  boolean isValid() {
    return broken.isEmpty() && end.total().grants() > 0;
  }

  int exitCode() {
    return isViolated() || !isValid() ? ExitCode.VIOLATED : ExitCode.OK;
  }

  String text() {
    DemoTally.Counts total = end.total();
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            "%,d grants to %d workers in %.1f s (%,.0f a second)%n",
            total.grants(),
            end.workers().size(),
            end.seconds(),
            total.grants() / Math.max(end.seconds(), 1)));
    if (end.plan().locked()) {
      text.append(
          String.format(
              "wait for the lock: p50 %.1f ms, p99 %.1f ms, longest %.1f ms%n",
              end.waitMillis(50), end.waitMillis(99), end.waitMillis(100)));
      text.append(
          String.format(
              "outages waited out: %,d; leases lost: %,d%n", total.outages(), total.lost()));
      if (total.outages() > 0) {
        text.append(
            String.format(
                "  (an outage: no quorum answered a worker in time, and it tried again)%n"));
      }
    }
    if (end.plan().faults()) {
      text.append(String.format("nodes frozen: %d; killed and restarted: %d%n", freezes, kills));
    }
    text.append(String.format("overlaps seen: %,d%n", total.overlaps()));
    text.append(
        String.format(
            "updates lost: %,d (%,d made, %,d in the files)%n",
            updatesLost(), total.written(), found));
    broken.forEach(line -> text.append(line).append(System.lineSeparator()));
    return text.append(verdict()).toString();
  }

  private String verdict() {
    if (!isValid()) {
      return "The demo did not work: nothing is shown by it.";
    }
    if (end.plan().locked()) {
      return isViolated() ? "THE LOCK FAILED: please report this." : "The lock held.";
    }
    return isViolated()
        ? "Without the lock, workers get in each other's way. With it: holdfast demo"
        : "Nothing was lost this time, by luck: run it for longer.";
  }

  String json() {
    DemoTally.Counts total = end.total();
    return String.format(
        Locale.ROOT,
        "{\"seconds\": %.1f, \"workers\": %d, \"locked\": %b, \"faults\": %b, \"valid\": %b,"
            + " \"grants\": %d, \"waitMillis\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f},"
            + " \"outages\": %d, \"leasesLost\": %d, \"freezes\": %d, \"kills\": %d,"
            + " \"overlaps\": %d, \"updatesMade\": %d, \"updatesFound\": %d, \"updatesLost\": %d}",
        end.seconds(),
        end.workers().size(),
        end.plan().locked(),
        end.plan().faults(),
        isValid(),
        total.grants(),
        end.waitMillis(50),
        end.waitMillis(99),
        end.waitMillis(100),
        total.outages(),
        total.lost(),
        freezes,
        kills,
        total.overlaps(),
        total.written(),
        found,
        updatesLost());
  }
}
