package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.Kind.Family;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One thread holds a lock, and many wait for it. */
record Waiters(int nodes, int threads) implements Scenario {
  private static final Duration WINDOW = Duration.ofSeconds(5);
  private static final Duration QUICK_WINDOW = Duration.ofSeconds(2);

  /** Until all that begin to wait have come to rest. */
  private static final Duration SETTLING = Duration.ofSeconds(2);

  /** So that thousands of threads are no matter of memory. */
  private static final long STACK = 256 * 1024;

  /**
   * The most waiters of other locks: with more, bare drivers are not even polled, and thousands of
   * RedissonRedLock's are busy for minutes when they are interrupted.
   */
  private static final int MAX_OF_OTHERS = 1_000;

  private static final Duration END_LIMIT = Duration.ofSeconds(30);

  @Override
  public String id() {
    return "waiters-" + nodes + "-" + threads;
  }

  @Override
  public String title() {
    return "N=%d, %s waiting for a lock that another one holds"
        .formatted(nodes, Crowd.words(threads));
  }

  @Override
  public boolean admits(Kind kind) {
    return threads <= MAX_OF_OTHERS || kind.family() == Family.OURS;
  }

  @Override
  public int warmUps(Effort effort) {
    return 0;
  }

  @Override
  public int rounds(Effort effort) {
    return Math.min(effort.rounds(), effort.either(3, 1));
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    CountDownLatch over = new CountDownLatch(1);
    List<Thread> waiting = new ArrayList<>();
    Thread holder = thread(subject, () -> hold(held, over), held);
    holder.start();
    try {
      if (!held.get(Terms.WAIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("it did not get a lock that is free");
      }
      long heapBefore = Heap.used();
      int threadsBefore = liveThreads();
      for (int i = 0; i < threads; i++) {
        Thread waiter = thread(subject, () -> {}, new CompletableFuture<>());
        waiting.add(waiter);
        waiter.start();
      }
      TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
      long begun = System.nanoTime();
      long before = subject.commandsSent();
      TimeUnit.NANOSECONDS.sleep(effort.either(WINDOW, QUICK_WINDOW).toNanos());
      tally.sent(subject.commandsSent() - before);
      tally.took(System.nanoTime() - begun);
      tally.note(Figure.THREADS, liveThreads() - threadsBefore - threads);
      tally.note(Figure.HEAP_EACH, (double) (Heap.used() - heapBefore) / threads);
    } finally {
      waiting.forEach(Thread::interrupt);
      over.countDown();
      end(holder, waiting, END_LIMIT);
    }
  }

  private static void hold(CompletableFuture<Boolean> held, CountDownLatch over) {
    held.complete(true);
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Starts a thread that reports its failure only to the given future: waiting ones are
   * interrupted.
   */
  private static Thread thread(Subject subject, Runnable work, CompletableFuture<Boolean> got) {
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                got.complete(subject.contestant().locked(subject.name(0), work));
              } catch (Exception e) {
                got.completeExceptionally(e);
              }
            },
            "waiter",
            STACK);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Ends all threads: a thread that went on waiting would be counted, and would cost the others
   * time.
   */
  static void end(Thread holder, List<Thread> waiting, Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    holder.join(limit.toMillis());
    for (Thread waiter : waiting) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left > 0) {
        waiter.join(left);
      }
    }
    long more = waiting.stream().filter(Thread::isAlive).count() + (holder.isAlive() ? 1 : 0);
    if (more > 0) {
      throw new IllegalStateException(
          "%,d threads did not end within %d ms, although they were stopped"
              .formatted(more, limit.toMillis()));
    }
  }

  static int liveThreads() {
    return ManagementFactory.getThreadMXBean().getThreadCount();
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = tally.noted();
    figures.put(Figure.COMMANDS_PER_SECOND, tally.commandsPerSecond());
    return figures;
  }

  @Override
  public List<String> notes() {
    return List.of(
        "threads: in addition to the waiting ones, heap: for each waiter, without stacks");
  }
}
