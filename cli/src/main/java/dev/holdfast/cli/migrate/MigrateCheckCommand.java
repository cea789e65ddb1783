package dev.holdfast.cli.migrate;

import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.ProgressLine;
import dev.holdfast.cli.terminal.Terminal;
import dev.holdfast.legacy.setnx.StampScan;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast migrate check}: its options. */
@Command(
    name = "check",
    description = "Looks for locks of the old pattern on a server.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "Searches the keys with SCAN for strings that look like time stamps: numbers of",
      "seconds or milliseconds, with or without a fraction, for a time from 2001 to a",
      "year from now. Fetches no longer values, and changes nothing without",
      "--delete-expired. A stamp is live if its time was in the future when it was",
      "read, by the server's clock, and otherwise expired. Reads one database, the one",
      "of the URL. Also compares how often SETNX and GETSET had been called before and",
      "after (INFO commandstats; in all databases, for any purpose).",
      "",
      "The rule: a live stamp is a lock that an old client holds, or a process in phase",
      "'from' or 'both'.",
      "- Before the first process goes to 'to', none may be old or in 'from'. The",
      "  server cannot show that; your deployment must. Live stamps are normal then.",
      "- When all run in 'to', phase 'both' has ended if there is no live stamp, and",
      "  none in another check after the longest timeout in use. A live stamp then",
      "  belongs to a process that was forgotten. So does a call of SETNX or GETSET,",
      "  unless other programs use these commands there for another purpose.",
      "- Exit code 1 shows that a process is left. Exit code 0 does not prove that none",
      "  is left: a check misses locks that are held for milliseconds, or once an hour.",
      "  Count your processes. A low --rate takes longer, and so counts more calls.",
      "- Expired stamps were left by holders that died. They do no harm once no old",
      "  client runs. --delete-expired deletes stamps that expired more than a minute",
      "  ago, because clocks differ, each only if its value is unchanged. Give the",
      "  names of your locks with --match: every other number that is a Unix time (a",
      "  last login, the date of a report) looks the same, and would be deleted.",
      "",
      "The user needs the rights to SCAN, TYPE, GETRANGE, PTTL, TIME, INFO and DBSIZE,",
      "and with --delete-expired to WATCH, UNWATCH, MULTI, EXEC and DEL.",
      "",
      "JSON: server, keys, begun, at (its end), live, expired, withoutTtl, lastPasses,",
      "setnxCalls, getsetCalls, clear (as exit code 0), stamps (an array of objects",
      "with name, unit, number, value, state, seen, passes, passesInMillis and",
      "ttlMillis; the last two as of when it was seen), and with --delete-expired",
      "deleted and changed (names).",
      "",
      "Exit code:",
      "  0   no live stamp, and no call of SETNX or GETSET, was seen",
      "  1   a live stamp or such a call was seen; or not all deletions succeeded",
      "  64  bad usage, URL, password or rights; or no terminal for the question",
      "  69  the server cannot be reached, or went away",
      "",
      "Examples:",
      "  holdfast migrate check --url redis://host:6379",
      "  holdfast migrate check --url redis://:password@host --match 'lock.*' --json",
      "  holdfast migrate check --url redis://host --match 'lock.*' --delete-expired"
    })
@SuppressWarnings("NullAway.Init")
final class MigrateCheckCommand implements Callable<Integer> {
  private static final String ALL = "*";
  private static final int FASTEST = 1_000_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--url",
      required = true,
      paramLabel = "URL",
      description = "The server: redis://[user[:password]@]host[:port][/db], or rediss://.")
  private String url;

  @Option(
      names = "--match",
      paramLabel = "PATTERN",
      description = "Only keys of this pattern, as KEYS has it (default: all).")
  private @Nullable String pattern;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Maximum number of keys to read a second (default: ${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--delete-expired",
      description = "Delete expired stamps; asks first, and needs --match.")
  private boolean deleteExpired;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  private boolean yes;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    UsageException.requireRange("--rate", rate, FASTEST);
    if (deleteExpired && pattern == null) {
      throw new UsageException(
          "--delete-expired would delete every number that is a Unix time, locks or not:"
              + " give the names of your locks, for example --match 'lock.*'");
    }
    if (deleteExpired && !yes && !Terminal.canAsk()) {
      throw new UsageException(
          "no answer is possible, because stdin is not a terminal: give --yes to delete without a"
              + " question");
    }
    RedisNodeUri server = server();
    Logging.silence();
    try (StampScan scan = StampScan.open(URI.create(server.text()))) {
      StampReport report = look(scan, server.address());
      if (!deleteExpired) {
        print(json ? Json.of(report.members()) : report.text());
        return report.isClear() ? ExitCode.OK : ExitCode.NO;
      }
      return delete(scan, report);
    }
  }

  private RedisNodeUri server() {
    LockUrl parsed = LockUrl.parse("setnx:" + url, Map.of());
    List<RedisNodeUri> nodes = RedisNodeUri.all(parsed);
    if (nodes.size() != 1 || parsed.driver().isPresent()) {
      throw new UsageException(
          "--url must name one server: write redis://host:6379, without setnx: or redlock:");
    }
    parsed.requireKnownOptions(Set.of());
    return nodes.get(0);
  }

  private StampReport look(StampScan scan, String server) throws InterruptedException {
    long keys = scan.keys();
    AtomicLong done = new AtomicLong();
    try (ProgressLine progress = new ProgressLine(json)) {
      progress.show(() -> String.format(Locale.ROOT, "%,d of about %,d keys", done.get(), keys));
      return new StampReport(server, scan.run(pattern == null ? ALL : pattern, rate, done::set));
    }
  }

  private int delete(StampScan scan, StampReport report) throws IOException, InterruptedException {
    if (!json) {
      print(report.text());
    }
    StampDeletion deletion = deletion(scan, report);
    print(json ? Json.of(deletion.members()) : deletion.text());
    return report.isClear() && deletion.isDone() ? ExitCode.OK : ExitCode.NO;
  }

  private StampDeletion deletion(StampScan scan, StampReport report)
      throws IOException, InterruptedException {
    int count = report.leftOver().size();
    if (count > 0 && !yes && !isWanted(report)) {
      return StampDeletion.refused(report);
    }
    try (ProgressLine progress = new ProgressLine(json)) {
      progress.show(() -> String.format(Locale.ROOT, "deleting %,d", count));
      return StampDeletion.done(report, scan.deleteUnchanged(report.leftOver(), rate));
    }
  }

  private boolean isWanted(StampReport report) throws IOException {
    return Terminal.isYes(
        String.format(
            Locale.ROOT,
            "Delete %,d expired stamps on %s?",
            report.leftOver().size(),
            report.server()));
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text);
  }
}
