package dev.holdfast.cli;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Processes, with those that they have started. */
final class ProcessTree {
  private static final long POLL_MILLIS = 10;

  private ProcessTree() {}

  /** These and all that they have started, each after the one that started it. */
  static Set<ProcessHandle> of(Collection<ProcessHandle> roots) {
    Set<ProcessHandle> all = new LinkedHashSet<>();
    for (ProcessHandle root : roots) {
      Stream.concat(Stream.of(root), root.descendants())
          .filter(ProcessTree::isAlive)
          .forEach(all::add);
    }
    return all;
  }

  /** What still runs of these, in the order of their numbers. */
  static List<ProcessHandle> left(Collection<ProcessHandle> processes) {
    return processes.stream().filter(ProcessTree::isAlive).sorted().toList();
  }

  /**
   * Waits until none of these runs any more.
   *
   * @return false if one still does after this time
   */
  static boolean awaitEnd(Collection<ProcessHandle> processes, Duration limit)
      throws InterruptedException {
    long begun = System.nanoTime();
    // Not by onExit, for which a zombie is alive, and which looks every other second.
    while (processes.stream().anyMatch(ProcessTree::isAlive)) {
      if (System.nanoTime() - begun >= limit.toNanos()) {
        return false;
      }
      Thread.sleep(POLL_MILLIS);
    }
    return true;
  }

  /**
   * An orphan of which nobody asks for the exit code, as in a container without init, has ended.
   */
  private static boolean isAlive(ProcessHandle process) {
    return process.isAlive() && !ProcStat.of(process.pid()).map(ProcStat::isZombie).orElse(false);
  }
}
