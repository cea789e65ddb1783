package dev.holdfast.cli.locks;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.backend.UrlOption;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.Terminal;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast release}: takes a lock away. */
@Command(
    name = "release",
    description = "Removes a lock from its holder.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "This command is for operators: the holder does not notice until it next renews",
      "the lock, and another owner may get the lock at once. Make sure first that the",
      "holder is gone. The command shows the holder and asks, unless --yes is given.",
      "",
      "JSON: name, removed (true or false) and, where there was a holder, owner,",
      "agreeing and nodes.",
      "",
      "Exit code:",
      "  0   removed",
      "  1   nothing was removed: the lock was free, or the answer was not yes",
      "  64  bad usage, URL or configuration; or no terminal for the question",
      "  69  no quorum of nodes answered",
      "",
      "Examples:",
      "  holdfast release --force nightly",
      "  holdfast release --force --yes --json nightly"
    })
@SuppressWarnings("NullAway.Init")
public final class ReleaseCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NAME", description = "The lock's name.")
  private String name;

  @Option(
      names = "--force",
      required = true,
      description = "Must be given: a lock is released by its holder, and otherwise by force.")
  @SuppressWarnings("UnusedVariable") // being given is all that it says
  private boolean force;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  private boolean yes;

  @Mixin private UrlOption url;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    if (!yes && !Terminal.canAsk()) {
      throw new UsageException(
          "no answer is possible, because stdin is not a terminal: give --yes to remove the lock"
              + " without a question");
    }
    Backend backend = url.backend();
    Logging.show();
    try (LockManager locks = backend.open()) {
      LockState found = LockState.of(locks, name);
      Logging.reportOutages();
      if (found.isFree()) {
        return end(found, false, found.text() + ", nothing to remove");
      }
      if (!yes && !isWanted(found)) {
        return end(found, false, "Nothing was removed.");
      }
      LockState now = LockState.of(locks, name);
      if (!now.isFree() && !now.owner().equals(found.owner())) {
        return end(now, false, "Nothing was removed: another owner holds it now. " + now.text());
      }
      boolean removed = locks.forceRelease(name);
      return end(
          found,
          removed,
          removed
              ? "Removed. Before: " + found.text()
              : "Nothing was removed: the lock is free now.");
    }
  }

  private static boolean isWanted(LockState found) throws IOException {
    System.err.println(found.text());
    return Terminal.isYes("Remove the lock? Its holder may still be at work.");
  }

  private int end(LockState state, boolean removed, String text) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("name", name);
    result.put("removed", removed);
    state
        .status()
        .ifPresent(
            status -> {
              result.put("owner", status.ownerLabel());
              result.put("agreeing", status.votes().granted());
              result.put("nodes", status.votes().nodes());
            });
    spec.commandLine().getOut().println(json ? Json.of(result) : text);
    return removed ? ExitCode.OK : ExitCode.NO;
  }
}
