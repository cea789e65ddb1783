package dev.holdfast.cli;

import dev.holdfast.legacy.FoundStamp;
import dev.holdfast.legacy.StampScan;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What a look at a server has shown of the old lock.
 *
 * @param server for messages, without user and password
 * @param seen what was found
 */
record StampReport(String server, StampScan.Result seen) {
  /** More are for programs to read. */
  private static final int MOST_LINES = 50;

  private static final int WIDEST_NAME = 40;

  /** By so much the clocks of clients may differ before what has passed is not over for all. */
  private static final Duration CLOCKS = Duration.ofMinutes(1);

  List<FoundStamp> live() {
    return seen.stamps().stream().filter(FoundStamp::wasLive).toList();
  }

  List<FoundStamp> expired() {
    return seen.stamps().stream().filter(stamp -> !stamp.wasLive()).toList();
  }

  /** What nobody can still hold for valid. */
  List<FoundStamp> leftOver() {
    return seen.stamps().stream()
        .filter(stamp -> !stamp.passes().isAfter(stamp.seen().minus(CLOCKS)))
        .toList();
  }

  /** Whether nobody was seen to take or hold a lock the old way. */
  boolean isClear() {
    return live().isEmpty() && !seen.calls().any();
  }

  String text() {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s: %,d keys looked at; time stamps like those of locks: %,d",
            server,
            seen.keys(),
            seen.stamps().size()));
    if (!seen.stamps().isEmpty()) {
      lines.addAll(table());
      lines.add(
          String.format(
              Locale.ROOT,
              "live: %,d; expired: %,d; without a TTL: %,d",
              live().size(),
              expired().size(),
              withoutTtl()));
      lines.add("");
    }
    lines.add(verdict());
    callsText().ifPresent(lines::add);
    expiredText().ifPresent(lines::add);
    unitsText().ifPresent(lines::add);
    return String.join(System.lineSeparator(), lines);
  }

  private List<String> table() {
    List<FoundStamp> shown =
        seen.stamps().stream()
            .sorted(Comparator.comparing(FoundStamp::passes).reversed())
            .limit(MOST_LINES)
            .toList();
    int width =
        shown.stream()
            .mapToInt(stamp -> Math.min(WIDEST_NAME, stamp.name().length()))
            .reduce("NAME".length(), Math::max);
    String format = "  %-" + width + "s  %-11s  %-20s  %s";
    List<String> lines = new ArrayList<>();
    lines.add(String.format(Locale.ROOT, format, "NAME", "STAMP", "STATE", "TTL"));
    for (FoundStamp stamp : shown) {
      lines.add(
          String.format(
              Locale.ROOT,
              format,
              stamp.name(),
              stamp.unit() + " " + stamp.number(),
              state(stamp),
              stamp.ttl().map(StampReport::rough).orElse("none")));
    }
    int more = seen.stamps().size() - shown.size();
    if (more > 0) {
      lines.add(
          String.format(Locale.ROOT, "  and %,d more: --json shows all, --match fewer", more));
    }
    return lines;
  }

  private static String state(FoundStamp stamp) {
    return stamp.wasLive()
        ? "live for " + rough(Duration.between(stamp.seen(), stamp.passes()))
        : "expired " + rough(Duration.between(stamp.passes(), stamp.seen())) + " ago";
  }

  private static String rough(Duration time) {
    if (time.toDays() > 0) {
      return time.toDays() + " d";
    }
    if (time.toHours() > 0) {
      return time.toHours() + " h";
    }
    return time.toMinutes() > 0 ? time.toMinutes() + " min" : time.toSeconds() + " s";
  }

  private String verdict() {
    return lastPasses()
        .map(
            last ->
                "Phase 'both' has not ended: "
                    + live().size()
                    + " held the old way when looked at, the last until "
                    + last.truncatedTo(ChronoUnit.SECONDS)
                    + ",\nby old clients or processes in 'from' or 'both'. If all should run in"
                    + " 'to',\nlook for the one that does not; else see 'holdfast migrate check"
                    + " --help'.")
        .orElse(
            "No lock was held the old way when it was looked at. That does not prove that nobody"
                + "\nis left: one that holds for milliseconds, or once an hour, is missed. Count your"
                + "\nprocesses. If all run in 'to', and it is the same after the longest timeout in"
                + "\nuse, phase 'both' has ended.");
  }

  private Optional<String> callsText() {
    return seen.calls().any()
        ? Optional.of(
            String.format(
                Locale.ROOT,
                "Phase 'both' has not ended: meanwhile (%s) SETNX was called %,d times and GETSET"
                    + " %,d times.\nSomebody still runs the old pattern, or processes in 'from' or"
                    + " 'both' do; unless\nother programs use these commands there for something"
                    + " else.",
                rough(Duration.between(seen.begun(), seen.at())),
                seen.calls().setnx(),
                seen.calls().getset()))
        : Optional.empty();
  }

  private Optional<String> expiredText() {
    return expired().isEmpty()
        ? Optional.empty()
        : Optional.of(
            expired().size()
                + " expired: left by holders that died, they harm nobody once no old client runs."
                + "\n--match 'lock.*' --delete-expired deletes those whose names begin with lock.");
  }

  private Optional<String> unitsText() {
    return seen.stamps().stream().map(FoundStamp::unit).distinct().count() < 2
        ? Optional.empty()
        : Optional.of(
            "Stamps in s and in ms: whoever reads s takes one in ms for a lock without end. See"
                + " which\nare locks of yours, and look at those alone with --match.");
  }

  /** As members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("server", server);
    members.put("keys", seen.keys());
    members.put("begun", seen.begun());
    members.put("at", seen.at());
    members.put("live", live().size());
    members.put("expired", expired().size());
    members.put("withoutTtl", withoutTtl());
    lastPasses().ifPresent(last -> members.put("lastPasses", last));
    members.put("setnxCalls", seen.calls().setnx());
    members.put("getsetCalls", seen.calls().getset());
    members.put("clear", isClear());
    members.put("stamps", seen.stamps().stream().map(StampReport::members).toList());
    return members;
  }

  private static Map<String, Object> members(FoundStamp stamp) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", stamp.name());
    members.put("unit", stamp.unit());
    members.put("number", stamp.number());
    members.put("value", stamp.value());
    members.put("state", stamp.wasLive() ? "live" : "expired");
    members.put("seen", stamp.seen());
    members.put("passes", stamp.passes());
    members.put("passesInMillis", Duration.between(stamp.seen(), stamp.passes()).toMillis());
    stamp.ttl().ifPresent(ttl -> members.put("ttlMillis", ttl.toMillis()));
    return members;
  }

  private long withoutTtl() {
    return seen.stamps().stream().filter(stamp -> stamp.ttl().isEmpty()).count();
  }

  private Optional<Instant> lastPasses() {
    return live().stream().map(FoundStamp::passes).max(Comparator.naturalOrder());
  }
}
