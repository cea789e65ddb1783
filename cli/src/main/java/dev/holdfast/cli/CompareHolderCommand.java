package dev.holdfast.cli;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A process of the comparison that holds a lock, and ends with its stdin: says yes when it has got
 * it, and answers a question a line.
 */
@Command(name = "compare-holder", hidden = true)
@SuppressWarnings("NullAway.Init")
final class CompareHolderCommand implements Callable<Integer> {
  static final String HELD = "held?";
  static final String RELEASE = "release";
  static final String YES = "yes";
  private static final String NO = "no";

  @Option(names = "--lock", required = true)
  private CompareLock lock;

  @Option(names = "--nodes", required = true, split = ",")
  private List<String> nodes;

  @Parameters private String name;

  @Override
  public Integer call() throws Exception {
    Logging.silence();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (LockManager locks = lock.open(nodes)) {
      Lease lease = locks.acquire(name, CompareHolders.TTL);
      System.out.println(YES);
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println((line.equals(HELD) ? lease.isHeld() : lease.release()) ? YES : NO);
      }
    }
    return ExitCode.OK;
  }
}
