package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeExceptionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Invalid first byte: 60 (<) at buffer index 0 decoding using null",
        "Unknown reply: <",
        "Can't decode replay: <html>"
      })
  void anAnswerThatNoRedisServerGivesIsSaidToBeOne(String ofTheDriver) {
    RuntimeException wrapped =
        new RuntimeException("connection failed", new IllegalStateException(ofTheDriver));

    assertThat(NodeException.of(wrapped)).hasMessageContaining("no Redis server");
    assertThat(NodeException.of(wrapped).isMisconfigured()).isFalse();
  }

  @Test
  void otherReasonsAreGivenAsTheyAre() {
    assertThat(NodeException.of(new IllegalStateException("no route to host")))
        .hasMessage("no route to host");
  }
}
