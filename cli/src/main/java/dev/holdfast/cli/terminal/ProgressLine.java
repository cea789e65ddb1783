package dev.holdfast.cli.terminal;

import dev.holdfast.cli.process.Message;
import dev.holdfast.cli.process.Stopwatch;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Says how far something is that takes longer than two seconds: a line that changes on a terminal,
 * elsewhere one now and then on stderr.
 */
public final class ProgressLine implements AutoCloseable {
  private static final long SILENT_MILLIS = 2_000;
  private static final long REDRAW_MILLIS = 200;
  private static final long LINE_MILLIS = 5_000;

  private final @Nullable LiveText live;
  private final Stopwatch begun = Stopwatch.started();
  private final CountDownLatch ended = new CountDownLatch(1);
  private @Nullable Thread thread;

  /**
   * @param json whether stdout is for a program
   */
  public ProgressLine(boolean json) {
    live = json || !Terminal.canRedraw() ? null : new LiveText(System.out, Terminal.width());
  }

  /** Begins to say how far it is. */
  public void show(Supplier<String> text) {
    thread = new Thread(() -> showUntilEnded(text), "holdfast-progress");
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the display. */
  @Override
  public void close() {
    ended.countDown();
    try {
      if (thread != null) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (live != null) {
      live.close();
    }
  }

  private void showUntilEnded(Supplier<String> text) {
    try {
      long pause = SILENT_MILLIS;
      while (!ended.await(pause, TimeUnit.MILLISECONDS)) {
        String line = begun.elapsed().toSeconds() + " s  " + text.get();
        if (live == null) {
          Message.print(line);
          pause = LINE_MILLIS;
        } else {
          live.draw(List.of(line));
          pause = REDRAW_MILLIS;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
