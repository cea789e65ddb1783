package dev.holdfast.cli.tck;

import dev.holdfast.cli.terminal.LiveText;
import dev.holdfast.cli.terminal.Terminal;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Says how far a run of the kit is: a line that changes on a terminal, elsewhere one now and then.
 */
final class TckProgress implements AutoCloseable {
  private static final long REDRAW_MILLIS = 200;
  private static final long LINE_MILLIS = 5_000;

  private final PrintStream out;
  private final @Nullable LiveText live;
  private final long begun = System.nanoTime();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread thread = new Thread(this::showUntilEnded, "holdfast-tck-progress");
  private final List<String> failed = new ArrayList<>();
  private int expected;
  private int done;
  private String now = "";

  /**
   * Shows nothing until it is known how many tests there are.
   *
   * @param live where lines can be drawn over
   */
  TckProgress(PrintStream out, @Nullable LiveText live) {
    this.out = out;
    this.live = live;
    thread.setDaemon(true);
  }

  /** Returns the progress that suits this terminal, if it is one. Leaves stdout to JSON. */
  static TckProgress of(boolean json) {
    return json
        ? new TckProgress(System.err, null)
        : new TckProgress(
            System.out, Terminal.canRedraw() ? new LiveText(System.out, Terminal.width()) : null);
  }

  /** Adds to the number of expected tests. */
  synchronized void expect(int more) {
    expected += more;
    if (thread.getState() == Thread.State.NEW) {
      thread.start();
    }
  }

  synchronized void begin(String group, String name) {
    now = group + ": " + name;
  }

  /** Notes the end of a test, or of its setup or teardown, which is shown only if it failed. */
  synchronized void end(TckTest test, boolean counts) {
    done += counts ? 1 : 0;
    if (test.outcome() == TckOutcome.FAILED) {
      failed.add(test.rules().isEmpty() ? test.title() : String.join(", ", test.rules()));
    }
  }

  @Override
  public void close() {
    ended.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (live != null && expected > 0) {
      live.draw(List.of(line("")));
      live.close();
    }
  }

  private void showUntilEnded() {
    try {
      do {
        if (live == null) {
          out.println(line(now()));
        } else {
          live.draw(List.of(line(now())));
        }
      } while (!ended.await(live == null ? LINE_MILLIS : REDRAW_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized String now() {
    return now.isEmpty() ? "" : "  " + now;
  }

  private synchronized String line(String end) {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
    String broken = failed.isEmpty() ? "" : " (" + String.join(", ", failed) + ")";
    return String.format(
        "%3d s  %d of %d tests, %d failed%s%s",
        seconds, done, expected, failed.size(), broken, end);
  }
}
