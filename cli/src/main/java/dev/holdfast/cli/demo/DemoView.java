package dev.holdfast.cli.demo;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A demo at one time.
 *
 * @param locks each lock's name, holder and votes, or none if they are not inspected
 * @param nodes the states of the nodes, or none if the demo has no nodes
 */
record DemoView(
    DemoPlan plan,
    double seconds,
    List<Worker> workers,
    DemoTally.Counts total,
    Histogram waits,
    List<Lock> locks,
    List<TestNode.State> nodes) {
  private static final double MICROS_PER_MILLI = 1_000;

  /** A worker's name and its reports. */
  record Worker(String label, DemoTally.Counts counts) {}

  /** The state of one lock on the nodes. */
  record Lock(String name, String holder, String votes) {
    /** Returns the state of a lock. An owner with fewer nodes than a quorum is no holder. */
    static Lock of(String name, LockStatus status) {
      boolean held = status.votes().granted() > status.votes().nodes() / 2;
      return new Lock(
          name,
          held ? status.ownerLabel() : "(being taken)",
          status.votes().granted() + " of " + status.votes().nodes());
    }
  }

  static DemoView of(
      DemoPlan plan,
      double seconds,
      List<DemoWorker> workers,
      @Nullable TestNodes nodes,
      @Nullable LockManager observer) {
    DemoTally.Counts total = DemoTally.Counts.NONE;
    Histogram waits = DemoTally.newHistogram();
    List<Worker> each = new ArrayList<>();
    for (DemoWorker worker : workers) {
      DemoTally.Counts counts = worker.tally().counts();
      each.add(new Worker(worker.label(), counts));
      total = total.plus(counts);
      worker.tally().addWaitsTo(waits);
    }
    return new DemoView(
        plan,
        seconds,
        each,
        total,
        waits,
        observer == null ? List.of() : locks(observer),
        nodes == null ? List.of() : nodes.all().stream().map(TestNode::state).toList());
  }

  /** Returns the wait that this percentage of the grants did not exceed, in milliseconds. */
  double waitMillis(double percent) {
    return waits.getValueAtPercentile(percent) / MICROS_PER_MILLI;
  }

  private static List<Lock> locks(LockManager observer) {
    List<Lock> locks = new ArrayList<>();
    for (int number = 0; number < DemoNumbers.COUNT; number++) {
      locks.add(lock(observer, DemoNumbers.name(number)));
    }
    return locks;
  }

  private static Lock lock(LockManager observer, String name) {
    try {
      return observer
          .inspect(name)
          .map(status -> Lock.of(name, status))
          .orElse(new Lock(name, "-", "-"));
    } catch (LockException e) {
      return new Lock(name, "no quorum answers", "-");
    }
  }
}
