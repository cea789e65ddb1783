package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Several things done at the same time, each of which must go well, and all in good time. */
public final class Workers implements AutoCloseable {
  private static final long LIMIT_SECONDS = 60;

  private final ExecutorService executor;
  private final List<Future<?>> running = new ArrayList<>();

  public Workers() {
    this(Executors.newCachedThreadPool());
  }

  public Workers(ExecutorService executor) {
    this.executor = executor;
  }

  /** Work that may throw anything. */
  public interface Work {
    void run() throws Exception;
  }

  public void start(Work work) {
    running.add(
        executor.submit(
            () -> {
              work.run();
              return null;
            }));
  }

  /** Waits for all, and throws what one of them threw. */
  public void join() throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    for (Future<?> work : running) {
      try {
        work.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      } catch (TimeoutException e) {
        long left = running.stream().filter(w -> !w.isDone()).count();
        throw new AssertionError(left + " of " + running.size() + " are still at work", e);
      }
    }
    assertThat(running).isNotEmpty();
    running.clear();
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
