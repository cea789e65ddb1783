package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.testnodes.RawRedis;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A process of the comparison that holds a lock, and ends with its stdin: when it has got it, it
 * says since when others may be kept out (Unix time in milliseconds), and answers a question a
 * line.
 */
@Command(name = "compare-holder", hidden = true)
@SuppressWarnings("NullAway.Init")
public final class CompareHolderCommand implements Callable<Integer> {
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
    return lock.asks() ? withLease(in) : bare(in);
  }

  private int withLease(BufferedReader in) throws IOException, InterruptedException {
    try (LockManager locks = lock.open(nodes)) {
      // Before it asks: from then on others may be kept out.
      long asked = System.currentTimeMillis();
      Lease lease =
          locks.acquire(
              LockRequest.of(name, CompareHolders.TTL).waitAtMost(CompareHolder.PATIENCE));
      System.out.println(asked);
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println((line.equals(HELD) ? lease.isHeld() : lease.release()) ? YES : NO);
      }
    }
    return ExitCode.OK;
  }

  /** Holds a lock without a lease, because a lease notices that it is over, and sends no DEL. */
  private int bare(BufferedReader in) throws IOException {
    URI node = URI.create(nodes.get(0));
    String key = "lock." + name;
    long asked = System.currentTimeMillis();
    long stamp = TimeUnit.MILLISECONDS.toSeconds(asked) + CompareHolders.TTL.toSeconds() + 1;
    try (RawRedis redis = RawRedis.connect(node.getHost(), node.getPort())) {
      if (!Long.valueOf(1).equals(redis.call("SETNX", key, Long.toString(stamp)))) {
        throw Comparison.notMeasured("another client has the lock");
      }
      System.out.println(asked);
      if (in.readLine() != null) {
        redis.call("DEL", key);
        System.out.println(YES);
      }
    }
    return ExitCode.OK;
  }
}
