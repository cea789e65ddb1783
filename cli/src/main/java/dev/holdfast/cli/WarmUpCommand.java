package dev.holdfast.cli;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** What the launcher runs once, to archive the classes that the other commands load. */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final int NODES = 3;

  @Override
  public Integer call() throws Exception {
    Main.commandLine().getSubcommands().get("run").getUsageMessage();
    new Histogram(2).recordValue(1);
    run(new Backend("memory:"));
    try (TestNodes nodes = TestNodes.start(NODES)) {
      return run(new Backend(LocalNodes.url(nodes)));
    } catch (NodeException e) {
      // No server runs here: the archive is smaller, and as good for other people's nodes.
      return ExitCode.OK;
    }
  }

  private static int run(Backend backend) throws Exception {
    LockRequest request = LockRequest.of("warm-up", TTL).waitAtMost(Duration.ZERO);
    try (LockManager locks = backend.open()) {
      locks.inspect("warm-up");
    }
    return new Run(backend, request, TTL, TTL, List.of("true")).exitCode();
  }
}
