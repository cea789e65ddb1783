package dev.holdfast.cli;

import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.TestNodes;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** The command that the launcher runs once, to archive the classes that other commands load. */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
  private static final int NODES = 3;

  @Override
  public Integer call() {
    new Histogram(2).recordValue(1);
    Main.execute("--version");
    Main.execute("run", "--help");
    Main.execute("nodes", "status");
    try (TestNodes nodes = TestNodes.start(NODES)) {
      run(LocalNodes.url(nodes));
    } catch (NodeException e) {
      // No server runs here: the archive is smaller, and as good for other people's nodes.
      run("redlock:redis://127.0.0.1:1?connectTimeout=10ms");
    }
    return ExitCode.OK;
  }

  /** Runs a command and ignores its outcome: the classes are loaded. */
  private static void run(String url) {
    Main.execute("run", "--url", url, "--name", "warm-up", "--", "true");
    Main.execute("status", "--url", url, "warm-up");
  }
}
