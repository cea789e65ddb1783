package dev.holdfast.cli.migrate;

import dev.holdfast.legacy.setnx.FoundStamp;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The result of deleting left-over stamps.
 *
 * @param deleted how many stamps
 * @param changed those that were left because they had changed
 * @param wanted whether the answer was yes
 */
record StampDeletion(StampReport report, int deleted, List<FoundStamp> changed, boolean wanted) {
  private static final int MAX_NAMES = 10;

  static StampDeletion done(StampReport report, List<FoundStamp> changed) {
    return new StampDeletion(report, report.leftOver().size() - changed.size(), changed, true);
  }

  static StampDeletion refused(StampReport report) {
    return new StampDeletion(report, 0, List.of(), false);
  }

  /** Returns whether every stamp that should be deleted was deleted. */
  boolean isDone() {
    return wanted && changed.isEmpty();
  }

  String text() {
    if (!wanted) {
      return "Nothing was deleted.";
    }
    int young = report.expired().size() - report.leftOver().size();
    return String.format(Locale.ROOT, "Deleted: %,d.", deleted)
        + (young == 0
            ? ""
            : String.format(Locale.ROOT, " Left: %,d that passed less than a minute ago.", young))
        + (changed.isEmpty()
            ? ""
            : String.format(
                Locale.ROOT,
                " Left: %,d that changed meanwhile: %s.",
                changed.size(),
                namesOfChanged()));
  }

  private String namesOfChanged() {
    return changed.stream().limit(MAX_NAMES).map(FoundStamp::name).collect(Collectors.joining(", "))
        + (changed.size() > MAX_NAMES ? ", ..." : "");
  }

  /** Returns the members of a JSON object, together with the report. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>(report.members());
    members.put("deleted", deleted);
    members.put("changed", changed.stream().map(FoundStamp::name).toList());
    return members;
  }
}
