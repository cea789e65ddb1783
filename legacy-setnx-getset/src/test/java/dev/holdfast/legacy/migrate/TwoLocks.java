package dev.holdfast.legacy.migrate;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import dev.holdfast.core.AttemptProgress;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Release;
import dev.holdfast.legacy.setnx.HandClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Scripted old and new locks, and the lock that is made of both. */
final class TwoLocks {
  static final Duration TTL = Duration.ofSeconds(10);
  static final Attempt ATTEMPT = new Attempt("name", "me", TTL, new AttemptProgress());

  final HandClock clock = HandClock.atStart();
  private final ClockReading start = clock.now();

  /** The calls of both locks since the last attempt began, in order. */
  final List<String> journal = new ArrayList<>();

  final ScriptedPrimitive ofOld = new ScriptedPrimitive("old", journal, in(10));
  final ScriptedPrimitive ofNew = new ScriptedPrimitive("new", journal, in(10));
  final BothPrimitive both = new BothPrimitive(over(ofOld), over(ofNew), clock);
  final LockOutageException outage = outage("the one");
  final LockOutageException otherOutage = outage("the other");

  Outcome attempted() {
    journal.clear();
    return both.attempt(ATTEMPT).join();
  }

  Grant granted() {
    Grant grant = (Grant) attempted();
    journal.clear();
    return grant;
  }

  Extension extended(Grant grant) {
    return both.extend(grant, TTL).join();
  }

  Optional<LossReason> released() {
    Release release = Release.deletionOf(granted());
    return both.release(release).join().loss();
  }

  /** So many seconds after the start. */
  ClockReading in(int seconds) {
    return start.plusNanos(seconds * 1_000_000_000L);
  }

  private LockManager over(ScriptedPrimitive primitive) {
    return LockManagerBuilder.over(primitive).clock(clock).build();
  }

  private static LockOutageException outage(String which) {
    return new LockOutageException("an outage", Map.of(which, new RuntimeException("down")), true);
  }
}
