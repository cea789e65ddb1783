package dev.holdfast.cli.migrate;

import dev.holdfast.legacy.setnx.FoundStamp;
import dev.holdfast.legacy.setnx.StampScan;
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
 * The old locks that were found on a server.
 *
 * @param server for messages, without user and password
 * @param seen the result of the scan
 */
record StampReport(String server, StampScan.Result seen) {
  /** More are for programs to read. */
  private static final int MAX_LINES = 50;

  private static final int WIDEST_NAME = 40;

  /**
   * The largest difference between clients' clocks: a stamp that expired longer ago is over for
   * all.
   */
  private static final Duration CLOCKS = Duration.ofMinutes(1);

  List<FoundStamp> live() {
    return seen.stamps().stream().filter(FoundStamp::wasLive).toList();
  }

  List<FoundStamp> expired() {
    return seen.stamps().stream().filter(stamp -> !stamp.wasLive()).toList();
  }

  /** Returns the stamps that no client can hold any more. */
  List<FoundStamp> leftOver() {
    return seen.stamps().stream()
        .filter(stamp -> !stamp.passes().isAfter(stamp.seen().minus(CLOCKS)))
        .toList();
  }

  /** Returns whether no client was seen to acquire or hold a lock the old way. */
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
            .limit(MAX_LINES)
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
                    + " live locks of the old pattern, the last until "
                    + last.truncatedTo(ChronoUnit.SECONDS)
                    + ",\nby old clients or processes in 'from' or 'both'. If all should run in"
                    + " 'to',\nlook for the process that does not. Otherwise see 'holdfast migrate"
                    + " check\n--help'.")
        .orElse(
            "No lock of the old pattern was held during the check. That does not prove that no"
                + "\nprocess is left: a check misses locks that are held for milliseconds, or once"
                + " an"
                + "\nhour. Count your processes. If all run in 'to', and the result is the same"
                + " after"
                + "\nthe longest timeout in use, phase 'both' has ended.");
  }

  private Optional<String> callsText() {
    return seen.calls().any()
        ? Optional.of(
            String.format(
                Locale.ROOT,
                "Phase 'both' has not ended: meanwhile (%s) SETNX was called %,d times and GETSET"
                    + " %,d times.\nOld clients, or processes in 'from' or 'both', are still"
                    + " running,"
                    + " unless other\nprograms use these commands there for another purpose.",
                rough(Duration.between(seen.begun(), seen.at())),
                seen.calls().setnx(),
                seen.calls().getset()))
        : Optional.empty();
  }

  private Optional<String> expiredText() {
    return expired().isEmpty()
        ? Optional.empty()
        : Optional.of(
            "Expired stamps, left by holders that died: "
                + expired().size()
                + ". They do no harm once no old client\nruns. --match 'lock.*' --delete-expired"
                + " deletes those whose names begin with lock.");
  }

  private Optional<String> unitsText() {
    return seen.stamps().stream().map(FoundStamp::unit).distinct().count() < 2
        ? Optional.empty()
        : Optional.of(
            "There are stamps in s and in ms: a client that reads s mistakes a stamp in ms for a"
                + "\nlock without end. Check which are locks of yours, and select these with"
                + " --match.");
  }

  /** Returns the members of a JSON object. */
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
