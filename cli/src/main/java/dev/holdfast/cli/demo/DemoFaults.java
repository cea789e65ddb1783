package dev.holdfast.cli.demo;

import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Freezes, kills and restarts nodes, never more than a minority at once. A node that was killed is
 * back at once without its data, and the restart guard keeps it out of votes: it counts as one of
 * the minority until that is over.
 */
final class DemoFaults {
  private static final long FROZEN_MILLIS = 300;
  private static final long AT_RANDOM_MILLIS = 1_000;

  /** Until all workers are connected again: they try once a second. */
  private static final long SETTLING_MILLIS = 1_200;

  /** The longest ttl with what is allowed for drift, and a second for clocks. */
  static final long QUARANTINE_MILLIS = DemoPlan.TTL.toMillis() * 101 / 100 + 2 + 1_000;

  /** Longer than any single step above. */
  private static final long END_LIMIT_MILLIS = 15_000;

  private final BlockingQueue<TestNode> well;
  private final CountDownLatch over = new CountDownLatch(1);
  private final AtomicInteger freezes = new AtomicInteger();
  private final AtomicInteger kills = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private volatile @Nullable NodeException failure;

  private DemoFaults(TestNodes nodes) {
    well = new LinkedBlockingQueue<>(nodes.all());
  }

  /** Begins the faults. Each thread takes one node away at a time. */
  static DemoFaults begin(TestNodes nodes) {
    DemoFaults faults = new DemoFaults(nodes);
    for (int i = 1; i <= DemoPlan.MINORITY; i++) {
      Thread thread = new Thread(faults::run, "holdfast-demo-faults-" + i);
      thread.setDaemon(true);
      thread.start();
      faults.threads.add(thread);
    }
    return faults;
  }

  /**
   * Ends the faults. Frozen nodes are thawed.
   *
   * @throws NodeException if a fault could not be done
   */
  void end() throws InterruptedException {
    over.countDown();
    for (Thread thread : threads) {
      thread.join(END_LIMIT_MILLIS);
    }
    if (failure != null) {
      throw failure;
    }
  }

  int freezes() {
    return freezes.get();
  }

  int kills() {
    return kills.get();
  }

  private void run() {
    try {
      while (!isOverAfter(0)) {
        TestNode node = anyOfThoseThatAreWell();
        if (ThreadLocalRandom.current().nextBoolean()) {
          freeze(node);
        } else {
          killAndRestart(node);
        }
        if (isOverAfter(SETTLING_MILLIS)) {
          return;
        }
        well.add(node);
      }
    } catch (NodeException e) {
      failure = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private TestNode anyOfThoseThatAreWell() throws InterruptedException {
    for (int skip = ThreadLocalRandom.current().nextInt(DemoPlan.NODES); skip > 0; skip--) {
      well.add(well.take());
    }
    return well.take();
  }

  private void freeze(TestNode node) throws InterruptedException {
    node.freeze();
    freezes.incrementAndGet();
    try {
      isOverAfter(FROZEN_MILLIS + ThreadLocalRandom.current().nextLong(AT_RANDOM_MILLIS));
    } finally {
      node.thaw();
    }
  }

  /** Its quarantine begins when a worker is connected again, and so ends while all settles. */
  private void killAndRestart(TestNode node) throws InterruptedException {
    node.restart();
    kills.incrementAndGet();
    isOverAfter(QUARANTINE_MILLIS);
  }

  private boolean isOverAfter(long millis) throws InterruptedException {
    return over.await(millis, TimeUnit.MILLISECONDS);
  }
}
