package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.rules.PortThatListens.Greeting;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** The nodes are asked for by TLS. */
public abstract class TlsRules {
  private static final String PLAIN = "redis";
  private static final String TLS = "rediss";

  final TckFixture fixture;

  public TlsRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that no byte is sent to a node of rediss:// but by TLS")
  void nothingIsSentInTheClearToANodeOfTls() {
    assertGreetedBy(Greeting.BY_TLS, PortThatListens::silent);
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that a certificate must be trusted, which is Java's default")
  void nothingIsSentToANodeWithAnUntrustedCertificate() {
    assertGreetedBy(Greeting.SENDS_NO_DATA, PortThatListens::untrusted);
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check the scheme of each node's URI, not of the first one alone")
  void nothingIsSentInTheClearToOneNodeOfTlsAmongOthers() {
    List<String> uris = new ArrayList<>(Needs.plainUris(fixture));
    try (PortThatListens port = PortThatListens.silent()) {
      uris.set(uris.size() - 1, port.uri(TLS));

      Throwable thrown = catchThrowable(() -> fixture.openOn(uris, "connectTimeout=3s"));
      if (thrown instanceof TestAbortedException aborted) {
        throw aborted;
      }
      if (refusesTls(thrown) && port.greetings().isEmpty()) {
        abort("this driver does not support TLS, and says so");
      }
      fixture.awaitRegardless("it was noted how a client began", () -> !port.greetings().isEmpty());
      assertThat(port.greetings()).as("how clients began").doesNotContain(Greeting.IN_THE_CLEAR);
    }
  }

  /** Checks how clients begin, again if none did in time on a machine that stalls. */
  private void assertGreetedBy(Greeting expected, Supplier<PortThatListens> listening) {
    Retries.anyOf(
        () ->
            assertThat(greetedAt(listening, TLS).greetings)
                .as("how clients began")
                .containsOnly(expected));
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that the error of a node with TLS names rediss://")
  void theErrorOfANodeWithTlsNamesTheSchemeForIt() {
    needsTls();

    Retries.anyOf(
        () ->
            assertThat(greetedAt(PortThatListens::untrusted, PLAIN).thrown)
                .hasMessageContaining(TLS + "://"));
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that the error of a node without TLS names redis://")
  void theErrorOfANodeWithoutTlsNamesTheSchemeForIt() {
    List<String> uris =
        Needs.plainUris(fixture).stream().map(uri -> TLS + uri.substring(PLAIN.length())).toList();

    needsTls();

    Retries.anyOf( // a handshake takes long on a machine that is busy
        () ->
            assertThat(catchThrowable(() -> fixture.openOn(uris, "connectTimeout=5s")))
                .isInstanceOf(LockException.class)
                .hasMessageContaining(PLAIN + "://"));
  }

  /**
   * The end of an attempt to open a manager.
   *
   * @param greetings of all connections that sent anything
   */
  private record Greeted(List<Greeting> greetings, Throwable thrown) {}

  /** Opens a manager on ports in place of all nodes. */
  private Greeted greetedAt(Supplier<PortThatListens> listening, String scheme) {
    int nodes = Needs.plainUris(fixture).size();
    List<PortThatListens> ports = new ArrayList<>();
    try {
      Stream.generate(listening).limit(nodes).forEach(ports::add);
      List<String> uris = ports.stream().map(port -> port.uri(scheme)).toList();

      Throwable thrown = catchThrowable(() -> fixture.openOn(uris));

      assertThat(thrown).as("opened where no node is").isInstanceOf(LockException.class);
      fixture.awaitRegardless(
          "it was noted how a client began",
          () -> ports.stream().anyMatch(port -> !port.greetings().isEmpty()));
      List<Greeting> greetings = ports.stream().flatMap(port -> port.greetings().stream()).toList();
      if (scheme.equals(TLS) && greetings.isEmpty() && refusesTls(thrown)) {
        abort("this driver does not support TLS, and says so");
      }
      return new Greeted(greetings, thrown);
    } finally {
      ports.forEach(PortThatListens::close);
    }
  }

  /** Leaves the test out if the driver refuses TLS: nothing is sent to a silent port then. */
  private void needsTls() {
    greetedAt(PortThatListens::silent, TLS);
  }

  private static boolean refusesTls(Throwable thrown) {
    return thrown instanceof LockConfigurationException;
  }
}
