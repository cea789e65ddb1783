package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeExceptionTest {
  @ParameterizedTest
  @ValueSource(strings = {"handshake timed out after 10000ms", "Connection reset by peer"})
  @DisplayName("ERR-1: where TLS may be what is wrong, the message says what to write")
  void aFailureThatTlsMayCauseSaysWhatToWrite(String message) {
    RuntimeException failure = new IllegalStateException(message);
    assertThat(NodeException.ofConnecting(failure, true))
        .hasMessage(message + " (if this port speaks no TLS, write redis:// for rediss://)")
        .hasCause(failure);
  }
}
