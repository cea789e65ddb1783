package dev.holdfast.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class DurationConverterTest {
  @Test
  void readsWhatUrlsHave() {
    DurationConverter converter = new DurationConverter();

    assertThat(converter.convert("50ms")).isEqualTo(Duration.ofMillis(50));
    assertThat(converter.convert("30s")).isEqualTo(Duration.ofSeconds(30));
    assertThat(converter.convert("24h")).isEqualTo(Duration.ofDays(1));
    assertThat(converter.convert("36500d")).isEqualTo(Duration.ofDays(36_500));
  }

  @Test
  void refusesWhatOverflowsLater() {
    assertThatThrownBy(() -> new DurationConverter().convert("36501d"))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("too long");
  }

  @Test
  void onlyAWaitCanBeForever() {
    assertThat(new DurationConverter.OrForever().convert("forever"))
        .isEqualTo(ChronoUnit.FOREVER.getDuration());
    assertThat(new DurationConverter.OrForever().convert("1s")).isEqualTo(Duration.ofSeconds(1));
  }
}
