package dev.holdfast.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.report.Json;
import dev.holdfast.legacy.setnx.FoundStamp;
import dev.holdfast.legacy.setnx.StampScan;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A scan of an hour, which is longer than the locks that it sees. */
class StampReportTest {
  private static final Instant BEGUN = Instant.parse("2026-02-03T04:00:00Z");
  private static final Instant ENDED = BEGUN.plusSeconds(3_600);
  private static final StampScan.Calls NO_CALLS = new StampScan.Calls(0, 0);

  private final Locale locale = Locale.getDefault();

  @AfterEach
  void restoreLocale() {
    Locale.setDefault(locale);
  }

  @Test
  void lockThatWasLiveWhenSeenIsReportedLive() {
    StampReport report = report(NO_CALLS, stamp("lock.a", BEGUN.plusSeconds(30), BEGUN));

    assertThat(report.isClear()).isFalse();
    assertThat(report.live()).hasSize(1);
    assertThat(report.leftOver()).isEmpty();
    assertThat(report.text())
        .containsPattern("lock\\.a +s integer +live for 30 s")
        .contains("Phase 'both' has not ended");
    assertThat(json(report))
        .contains("\"state\": \"live\"", "\"passesInMillis\": 30000", "\"clear\": false");
  }

  @Test
  void stampThatPassedAMinuteBeforeItWasSeenIsLeftOver() {
    Instant late = BEGUN.plusSeconds(3_000);
    StampReport report =
        report(
            NO_CALLS,
            stamp("lock.old", late.minusSeconds(60), late),
            stamp("lock.young", late.minusSeconds(59), late));

    assertThat(report.isClear()).isTrue();
    assertThat(report.expired()).hasSize(2);
    assertThat(report.leftOver()).extracting(FoundStamp::name).containsExactly("lock.old");
    assertThat(report.text()).containsPattern("lock\\.old +s integer +expired 1 min ago");
  }

  @Test
  void callsOfTheOldCommandsShowThatOldClientsRemain() {
    StampReport report = report(new StampScan.Calls(1_234, 5));

    assertThat(report.isClear()).isFalse();
    assertThat(report.text())
        .contains("meanwhile (1 h) SETNX was called 1,234 times and GETSET 5 times.");
    assertThat(json(report)).contains("\"setnxCalls\": 1234, \"getsetCalls\": 5, \"clear\": false");
  }

  @Test
  void numbersAreWrittenTheSameEverywhere() {
    Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));

    assertThat(report(new StampScan.Calls(1_234, 0)).text())
        .startsWith("h:6379: 12,345 keys looked at; time stamps like those of locks: 0")
        .contains("SETNX was called 1,234 times");
  }

  private static StampReport report(StampScan.Calls calls, FoundStamp... stamps) {
    return new StampReport(
        "h:6379", new StampScan.Result(12_345, BEGUN, ENDED, List.of(stamps), calls));
  }

  private static FoundStamp stamp(String key, Instant passes, Instant seen) {
    return new FoundStamp(
        key,
        Long.toString(passes.getEpochSecond()),
        "s",
        "integer",
        passes,
        seen,
        Optional.empty());
  }

  private static String json(StampReport report) {
    return Json.of(report.members());
  }
}
