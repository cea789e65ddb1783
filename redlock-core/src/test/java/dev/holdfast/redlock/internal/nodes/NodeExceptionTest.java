package dev.holdfast.redlock.internal.nodes;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Rule;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.DisplayName;
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
  void replyOfAnotherProtocolIsReportedAsNoRedisServer(String ofTheDriver) {
    RuntimeException wrapped =
        new RuntimeException("connection failed", new IllegalStateException(ofTheDriver));

    assertThat(NodeException.of(wrapped)).hasMessageContaining("no Redis server");
    assertThat(NodeException.of(wrapped).isMisconfigured()).isFalse();
  }

  @Test
  void aChannelThatWasClosedWithoutAWordIsAConnectionThatEnded() {
    assertThat(NodeException.of(new RuntimeException(new ClosedChannelException())))
        .hasMessage("the connection ended");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ERR AUTH <password> called without any password configured for the default user.",
        "ERR Client sent AUTH, but no password is set",
        "ERR DB index is out of range"
      })
  @Rule("ERR-1")
  @DisplayName("a superfluous password, or a database that does not exist, is no outage")
  void superfluousPasswordOrDatabaseIsAMistake(String reply) {
    assertThat(NodeException.reply(reply).isMisconfigured()).isTrue();
    assertThat(NodeException.of(new RuntimeException("no", new IllegalStateException(reply))))
        .hasMessageContainingAll(reply, "check this node's URL");
  }

  @Test
  @Rule("RES-1")
  @DisplayName("a cause shows what the driver threw, and nothing can be added to it")
  void aCauseIsATextOfTheDriversException() {
    IOException refused = new IOException("connection refused");
    NodeException shared = NodeException.of(new IllegalStateException("not connected", refused));

    Throwable cause = requireNonNull(shared.getCause());
    cause.addSuppressed(new IllegalArgumentException("added by a caller"));
    cause.setStackTrace(refused.getStackTrace());

    assertThat(shared).hasMessage("connection refused");
    assertThat(cause)
        .hasMessage("java.lang.IllegalStateException: not connected")
        .hasNoSuppressedExceptions()
        .extracting(Throwable::getStackTrace)
        .isEqualTo(new StackTraceElement[0]);
    assertThat(cause.getCause()).hasMessage("java.io.IOException: connection refused").hasNoCause();
    assertThat(refused.getSuppressed()).isEmpty();
  }

  @Test
  void causesInACycleHaveAnEnd() {
    RuntimeException one = new RuntimeException("one");
    RuntimeException other = new RuntimeException("other", one);
    one.initCause(other);

    assertThat(NodeException.of(one)).hasCauseInstanceOf(DriverError.class);
  }

  @Test
  @Rule("ERR-3")
  @DisplayName("the password that a server without AUTH repeats is not shown")
  void argumentsOfACommandAreNotRepeated() {
    String reply = "ERR unknown command `AUTH`, with args beginning with: `hunter2`, ";

    assertThat(NodeException.reply(reply)).hasMessage("ERR unknown command `AUTH`");
    assertThat(NodeException.of(new IllegalStateException(reply)))
        .hasMessage("ERR unknown command `AUTH`")
        .hasNoCause();
    assertThat(NodeException.misconfigured(reply)).hasMessage("ERR unknown command `AUTH`");
    assertThat(NodeException.passing(reply)).hasMessage("ERR unknown command `AUTH`");
  }

  @Test
  void otherReasonsAreReportedUnchanged() {
    assertThat(NodeException.of(new IllegalStateException("no route to host")))
        .hasMessage("no route to host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"handshake timed out after 10000ms", "Connection reset by peer"})
  @Rule("ERR-1")
  @DisplayName("the message of a failure that TLS may have caused names the right" + " scheme")
  void failureThatTlsMayCauseNamesTheScheme(String message) {
    RuntimeException failure = new IllegalStateException(message);
    assertThat(NodeException.ofConnecting(failure, true))
        .hasMessage(message + " (if this port speaks no TLS, write redis:// for rediss://)")
        .cause()
        .hasMessage(failure.toString());
  }
}
