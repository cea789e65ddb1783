package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that do the same at the same time. */
final class Crowd {
  private Crowd() {}

  /** The work of each thread until the end. */
  @FunctionalInterface
  interface Member {
    /**
     * Runs the work of one thread.
     *
     * @param number from 0
     * @param end by {@link System#nanoTime()}
     */
    void work(int number, long end, Tally.Own own) throws Exception;
  }

  static String words(int threads) {
    return threads == 1 ? "1 thread" : "%,d threads".formatted(threads);
  }

  /** Runs threads for so long, and adds their measurements. */
  static void work(int threads, long nanos, Tally tally, Member member) throws Exception {
    ExecutorService crowd = Executors.newFixedThreadPool(threads);
    try {
      work(crowd, threads, nanos, tally, member);
    } finally {
      crowd.shutdown();
    }
  }

  /** Does the same with the threads of the caller. */
  static void work(ExecutorService crowd, int threads, long nanos, Tally tally, Member member)
      throws Exception {
    CountDownLatch ready = new CountDownLatch(threads);
    CountDownLatch start = new CountDownLatch(1);
    List<Future<Tally.Own>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      all.add(
          crowd.submit(
              () -> {
                Tally.Own own = new Tally.Own();
                ready.countDown();
                start.await();
                member.work(number, System.nanoTime() + nanos, own);
                return own;
              }));
    }
    ready.await();
    long begun = System.nanoTime();
    start.countDown();
    for (Future<Tally.Own> each : all) {
      tally.add(each.get());
    }
    tally.took(System.nanoTime() - begun);
  }

  /** Acquires and releases locks of this name until the end. */
  static void takeAndGiveBack(Contestant contestant, String name, long end, Tally.Own own)
      throws InterruptedException {
    for (long from = System.nanoTime(); from < end; ) {
      boolean got = attempt(contestant, name);
      long now = System.nanoTime();
      if (got) {
        own.took(now - from);
      } else {
        own.failed();
      }
      from = now;
    }
  }

  /** Returns whether the lock was acquired. It was not if its servers did not answer. */
  static boolean attempt(Contestant contestant, String name) throws InterruptedException {
    try {
      return contestant.locked(name, () -> {});
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return false;
    }
  }
}
