package dev.holdfast.cli.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockStateTest {
  @ParameterizedTest
  @CsvSource({"1, 1, true", "2, 3, true", "1, 3, false", "2, 4, false", "3, 5, true"})
  void aQuorumIsMoreThanHalfOfAll(int agreeing, int nodes, boolean quorum) {
    assertThat(state("web", 1_000, agreeing, nodes).hasQuorum()).isEqualTo(quorum);
  }

  @ParameterizedTest
  @CsvSource({"0, 0.0 s", "23449, 23.4 s", "99999, 100.0 s", "100000, 1m40s", "3723999, 1h2m3s"})
  void precisionOfTheTimeDependsOnItsLength(long millis, String text) {
    assertThat(state("web", millis, 3, 3).text())
        .isEqualTo("job: held by web; 3 of 3 nodes agree; " + text + " left");
  }

  @Test
  void onlyTheTimeMayDifferBetweenEqualStates() {
    LockState state = state("web", 9_000, 3, 3);

    assertThat(state.isSameAs(state("web", 8_000, 3, 3))).isTrue();
    assertThat(state.isSameAs(state("web", 9_000, 2, 3))).isFalse();
    assertThat(state.isSameAs(state("cron", 9_000, 3, 3))).isFalse();
    assertThat(state.isSameAs(outage("after 50 ms"))).isFalse();
    assertThat(outage("after 50 ms").isSameAs(outage("after 51 ms"))).isTrue();
  }

  @Test
  void controlCharactersInAnOwnerAreMasked() {
    assertThat(state("\u001b[2Jw\u0007eb\n  x", 1_000, 1, 1).text())
        .isEqualTo("job: held by ?[2Jw?eb x; 1 of 1 node agrees; 1.0 s left");
  }

  private static LockState state(String owner, long millis, int agreeing, int nodes) {
    return new LockState(
        "job",
        Optional.of(
            new LockStatus(
                "job",
                owner,
                Duration.ofMillis(millis),
                new LockVotes(agreeing, nodes - agreeing, 0))),
        Optional.empty());
  }

  private static LockState outage(String words) {
    return new LockState("job", Optional.empty(), Optional.of(words));
  }
}
