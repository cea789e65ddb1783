package dev.holdfast.cli.locks;

import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.report.Json;
import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A line for each change. */
final class StatusLines implements StatusScreen {
  private final PrintStream out;
  private final boolean json;
  private @Nullable LockState before;

  StatusLines(PrintStream out, boolean json) {
    this.out = out;
    this.json = json;
  }

  @Override
  public void show(LockState state) {
    if (before == null || !state.isSameAs(before)) {
      Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
      out.println(
          json ? json(now, state) : now.truncatedTo(ChronoUnit.SECONDS) + " " + state.text());
      out.flush();
    }
    before = state;
  }

  private static String json(Instant now, LockState state) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("time", now);
    members.putAll(state.members());
    return Json.of(members);
  }

  @Override
  public void close() {}
}
