package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.Base64;
import java.util.List;

/**
 * A process whose threads compete for a lock. It reports that it is ready, and begins when it reads
 * a byte. Then it reports its results and ends.
 */
final class ContendingProcess {
  private static final int SERVERS = 3;
  private static final Duration WARM_UP = Duration.ofSeconds(3);

  private ContendingProcess() {}

  /**
   * Runs the process. The arguments are the kind of lock, the number of threads, the milliseconds,
   * and the servers.
   */
  public static void main(String[] arguments) throws Exception {
    int threads = Integer.parseInt(arguments[1]);
    Duration time = Duration.ofMillis(Long.parseLong(arguments[2]));
    List<String> uris = List.of(arguments).subList(SERVERS, arguments.length);
    try (Contestant contestant = Kinds.of(arguments[0]).opener().open(uris)) {
      String own = "warm-up-" + ProcessHandle.current().pid();
      contend(contestant, own, threads, WARM_UP);
      System.out.println("ready");
      // The end of stdin means that the parent process has ended.
      if (System.in.read() >= 0) {
        Tally tally = contend(contestant, arguments[0] + "-contended", threads, time);
        String times = Base64.getEncoder().encodeToString(tally.encodedTimes());
        System.out.println(times + " " + (long) tally.failures());
      }
    }
    System.exit(0);
  }

  private static Tally contend(Contestant contestant, String name, int threads, Duration time)
      throws Exception {
    Tally tally = new Tally();
    Crowd.work(
        threads,
        time.toNanos(),
        tally,
        (number, end, own) -> OneName.contend(contestant, name, end, own));
    return tally;
  }
}
