package dev.holdfast.cli.run;

import java.time.Duration;
import java.util.List;

/**
 * All processes of one session, found in {@code /proc}. Empty where there is none.
 *
 * @param id the process that began it
 */
record Session(long id) {
  private static final long POLL_MILLIS = 10;

  /** Returns those that run, in the order of their numbers. */
  List<ProcessHandle> members() {
    return ProcessHandle.allProcesses()
        .filter(p -> ProcStat.of(p.pid()).filter(s -> s.session() == id).isPresent())
        .filter(Session::runs)
        .sorted()
        .toList();
  }

  /**
   * Kills them until none is left, because one that is about to be killed can start another.
   *
   * @return false if one is left after this time
   */
  boolean kill(Duration limit) throws InterruptedException {
    long begun = System.nanoTime();
    for (List<ProcessHandle> left = members(); !left.isEmpty(); left = members()) {
      if (System.nanoTime() - begun >= limit.toNanos()) {
        return false;
      }
      left.forEach(ProcessHandle::destroyForcibly);
      Thread.sleep(POLL_MILLIS);
    }
    return true;
  }

  /**
   * Returns whether a process has not ended. An orphan of which nothing asks for the exit code, as
   * in a container without init, has ended.
   */
  static boolean runs(ProcessHandle process) {
    return process.isAlive() && !ProcStat.of(process.pid()).map(ProcStat::isZombie).orElse(false);
  }
}
