package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines as Linux prints them. */
class ProcStatTest {
  @Test
  void aNameMayHoldSpacesAndParentheses() {
    ProcStat stat =
        ProcStat.parse(
            "7 (a) Z (b) S 1 70 71 34816 72 4194304 0 0 0 0 0 0 0 0 20 0 3 0 99 4096 1\n");

    assertThat(stat).isEqualTo(new ProcStat('S', 71, 3));
  }

  @ParameterizedTest
  @CsvSource({"Z, 1, true", "Z, 0, true", "Z, 2, false", "S, 1, false"})
  void aZombieIsOneOfWhichNoThreadRuns(String state, int threads, boolean zombie) {
    assertThat(new ProcStat(state.charAt(0), 1, threads).isZombie()).isEqualTo(zombie);
  }

  @Test
  void missingProcessHasNoStat() {
    assertThat(ProcStat.of(Long.MAX_VALUE)).isEmpty();
  }
}
