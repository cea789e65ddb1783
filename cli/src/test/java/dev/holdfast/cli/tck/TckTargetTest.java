package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TckTargetTest {
  @ParameterizedTest
  @ValueSource(strings = {"mine:{name}?maxTtl=5s", "mine:any-name", "redlock:jedis:{nodes}"})
  void aUrlIsShownAsItWasGiven(String url) {
    assertThat(TckTarget.of(url, null, false).shown()).isEqualTo(url);
  }
}
