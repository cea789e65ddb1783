package dev.holdfast.cli;

import dev.holdfast.LockManager;
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
    description = "Takes a lock away from whoever holds it.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "An operator's act: the holder does not know until it next renews the lock, and",
      "another may get it at once. Make sure first that the holder is gone. Shows who",
      "holds it and asks, unless there is --yes.",
      "",
      "JSON: name, removed (true or false) and, where there was a holder, owner,",
      "agreeing and nodes.",
      "",
      "Exit code:",
      "  0   removed",
      "  1   nothing was removed: it was not there, or the answer was not yes",
      "  64  bad usage, URL or configuration; or nobody can be asked",
      "  69  no quorum of nodes answered",
      "",
      "Examples:",
      "  holdfast release --force nightly",
      "  holdfast release --force --yes --json nightly"
    })
@SuppressWarnings("NullAway.Init")
final class ReleaseCommand implements Callable<Integer> {
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
          "nobody can be asked, because stdin is not a terminal: give --yes to take the lock away"
              + " without");
    }
    Backend backend = url.backend();
    Logging.show();
    try (LockManager locks = backend.open()) {
      LockState found = LockState.of(locks, name);
      Logging.tellOutages();
      if (found.isFree()) {
        return end(found, false, found.text() + ", nothing to remove");
      }
      if (!yes && !isWanted(found)) {
        return end(found, false, "Nothing was removed.");
      }
      LockState now = LockState.of(locks, name);
      if (!now.isFree() && !now.owner().equals(found.owner())) {
        return end(now, false, "Nothing was removed, for by now another holds it. " + now.text());
      }
      boolean removed = locks.forceRelease(name);
      return end(
          found,
          removed,
          removed
              ? "Removed. What was there: " + found.text()
              : "Nothing was removed, for by now it is gone.");
    }
  }

  private static boolean isWanted(LockState found) throws IOException {
    System.err.println(found.text());
    return Terminal.isYes("Take it away? Its holder may still be at work.");
  }

  private int end(LockState state, boolean removed, String text) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("name", name);
    result.put("removed", removed);
    state
        .status()
        .ifPresent(
            status -> {
              result.put("owner", status.owner());
              result.put("agreeing", status.agreeing());
              result.put("nodes", status.nodes());
            });
    spec.commandLine().getOut().println(json ? Json.of(result) : text);
    return removed ? ExitCode.OK : ExitCode.NO;
  }
}
