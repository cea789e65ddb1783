package dev.holdfast.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoResultTest {
  @Test
  void saysWhatAnOutageIsWhereThereWasOne() {
    assertThat(text(1)).contains("outages waited out: 1", "no quorum answered");
    assertThat(text(0)).contains("outages waited out: 0").doesNotContain("no quorum");
  }

  @ParameterizedTest
  @CsvSource({"1, (being taken)", "2, (being taken)", "3, worker", "5, worker"})
  void onlyAQuorumMakesAHolder(int agreeing, String holder) {
    LockStatus status =
        new LockStatus(
            "a", "worker", Duration.ofSeconds(1), new LockVotes(agreeing, 5 - agreeing, 0));

    assertThat(DemoView.Lock.of("a", status))
        .isEqualTo(new DemoView.Lock("a", holder, agreeing + " of 5"));
  }

  private static String text(long outages) {
    DemoPlan plan = new DemoPlan(1, 1, false, true, false, "lettuce", Optional.empty());
    DemoTally.Counts total = new DemoTally.Counts(1, 1, 0, 0, outages);
    DemoView end =
        new DemoView(plan, 1, List.of(), total, DemoTally.newHistogram(), List.of(), List.of());
    return new DemoResult(end, 1, 0, 0, List.of()).text();
  }
}
