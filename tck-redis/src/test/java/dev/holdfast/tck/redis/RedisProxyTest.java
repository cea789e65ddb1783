package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckLink.Fate;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.testnodes.NodeException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

@TestInstance(Lifecycle.PER_CLASS)
class RedisProxyTest {
  private static final Duration IMPATIENT = Duration.ofMillis(200);

  private final RedisTckEnvironment environment =
      RedisTckEnvironment.builder(NoManagers.OPENER)
          .nodes(1)
          .keyPrefix("locks:")
          .rights("~* &* +@all")
          .build();
  private final TckNode node = environment.nodes().get(0);
  private TckLink link = node.link().orElseThrow();

  @BeforeEach
  void link() {
    link = node.link().orElseThrow();
  }

  @AfterEach
  void reset() {
    link.close();
    environment.reset();
  }

  @AfterAll
  void close() {
    environment.close();
  }

  @Test
  void requestsAndRepliesPassThrough() {
    try (Client client = Client.of(link.uri())) {
      assertThat(client.call("SET", "locks:job", "token")).isEqualTo("OK");
      assertThat(client.call("GET", "locks:job")).isEqualTo("token");
    }
    assertThat(node.holder("job")).contains("token");
  }

  @Test
  void theRequestsAboutOneLockAreReportedInFull() {
    try (Client client = Client.of(link.uri())) {
      client.call("SET", "locks:job", "tökén", "PX", "20000");
      client.call("SET", "locks:job2", "token");
      client.call("GET", "job");
      client.call("WATCH", "locks:job");
    }

    assertThat(link.requests("job"))
        .containsExactly("SET locks:job tökén PX 20000", "WATCH locks:job");
  }

  @Test
  void aRequestWhoseReplyIsCutReachesTheNode() {
    link.after("job", 0, Fate.REPLY_CUT);
    try (Client client = Client.of(link.uri())) {
      assertThatThrownBy(() -> client.call("SET", "locks:job", "token"))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining("closed");
    }

    await().until(() -> node.holder("job").isPresent());
  }

  @Test
  void aRequestThatIsCutDoesNotReachTheNode() {
    link.after("job", 0, Fate.CUT);
    try (Client client = Client.of(link.uri())) {
      assertThatThrownBy(() -> client.call("SET", "locks:job", "token"))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining("closed");
    }

    await().until(() -> node.connections().orElseThrow() == 0);
    assertThat(node.holder("job")).isEmpty();
    assertThat(link.requests("job")).hasSize(1);
  }

  @Test
  void requestsAreAnsweredByAnErrorUntilTheProxyIsRestored() {
    try (Client client = Client.of(link.uri())) {
      link.refuse("BUSY a script runs");
      assertThat(client.answer("SET", "locks:job", "token")).isEqualTo("BUSY");
      assertThat(client.answer("GET", "locks:job")).isEqualTo("BUSY");
      assertThat(node.holder("job")).isEmpty();

      link.mend();
      assertThat(client.call("SET", "locks:job", "token")).isEqualTo("OK");
    }
  }

  @Test
  void aRequestThatIsLostDoesNotReachTheNodeAndTheConnectionStays() {
    link.after("job", 0, Fate.LOST);
    try (Client client = Client.of(link.uri(), IMPATIENT)) {
      assertThatThrownBy(() -> client.call("SET", "locks:job", "token"))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining("timeout");
    }

    assertThat(node.holder("job")).isEmpty();
  }

  @Test
  void aRequestAfterALostOneIsLostAsWell() throws IOException {
    link.after("job", 0, Fate.LOST);
    try (Client client = Client.of(link.uri(), IMPATIENT);
        Sender sender = new Sender(link.uri())) {
      sender.send("SET", "locks:job", "token");
      sender.send("SET", "locks:other", "token");
      await().until(() -> link.requests("other").size() == 1);
      assertThat(client.call("SET", "locks:third", "token")).isEqualTo("OK");

      assertThat(node.holder("other")).isEmpty();
    }
  }

  @Test
  void restoringEndsAConnectionThatLostARequest() throws IOException {
    link.after("job", 0, Fate.LOST);
    try (Sender sender = new Sender(link.uri())) {
      sender.send("SET", "locks:job", "token");
      await().until(() -> link.requests("job").size() == 1);

      link.mend();

      sender.awaitEnd();
    }
    try (Client client = Client.of(link.uri())) {
      assertThat(client.call("SET", "locks:job", "token")).isEqualTo("OK");
    }
  }

  @Test
  void lateRequestsReachTheNodeInTheirOrderWhenRestoredAndDelayNoOtherConnection()
      throws IOException {
    link.after("job", 0, Fate.LATE);
    try (Sender sender = new Sender(link.uri());
        Client client = Client.of(link.uri())) {
      sender.send("SET", "locks:job", "token");
      sender.send("SET", "locks:next", "token");
      await().until(() -> link.requests("next").size() == 1);
      assertThat(client.call("GET", "locks:next")).isNull();
      assertThat(client.call("GET", "locks:job")).isNull();
      assertThat(node.holder("job")).isEmpty();

      link.mend();

      await().until(() -> node.holder("next").isPresent());
      assertThat(node.holder("job")).contains("token");
    }
  }

  @Test
  void aLateRequestOutlivesItsConnection() throws IOException {
    link.after("job", 0, Fate.LATE);
    try (Sender sender = new Sender(link.uri())) {
      sender.send("SET", "locks:job", "token");
      await().until(() -> link.requests("job").size() == 1);
    }

    link.mend();

    await().until(() -> node.holder("job").isPresent());
  }

  @Test
  void connectionsThatHaveEndedAreCountedAsWell() {
    Client.of(link.uri()).close();
    try (Client client = Client.of(link.uri())) {
      client.call("PING");

      assertThat(link.connections()).hasValue(2);
    }
  }

  @Test
  void someRequestsPassFirst() {
    link.after("job", 2, Fate.CUT);
    try (Client client = Client.of(link.uri())) {
      client.call("SET", "locks:job", "1");
      client.call("SET", "locks:other", "x");
      client.call("SET", "locks:job", "2");
      assertThatThrownBy(() -> client.call("SET", "locks:job", "3"))
          .isInstanceOf(NodeException.class);
    }
    try (Client client = Client.of(link.uri())) {
      assertThatThrownBy(() -> client.call("SET", "locks:job", "4"))
          .isInstanceOf(NodeException.class);
    }

    assertThat(node.holder("job")).contains("2");
  }

  @Test
  void cutEndsAllConnectionsAndEachNewOneUntilTheProxyIsRestored() {
    try (Client client = Client.of(link.uri())) {
      assertThat(client.call("PING")).isEqualTo("PONG");

      link.cut();

      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(NodeException.class);
    }
    assertThatThrownBy(() -> Client.of(link.uri())).isInstanceOf(NodeException.class);
    link.mend();
    try (Client client = Client.of(link.uri())) {
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void aRequestAfterACutDoesNotReachTheNodeHoweverManyConnectionsAreCut() throws IOException {
    for (int round = 0; round < 10; round++) {
      List<Sender> senders = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        Sender sender = new Sender(link.uri());
        senders.add(sender);
        sender.send("WATCH", "locks:before");
      }
      int all = senders.size() * (round + 1);
      await().until(() -> link.requests("before").size() == all);

      link.cut();

      for (Sender sender : senders) {
        sender.tryToSend("SET", "locks:after", "token");
      }
      link.mend();
      for (Sender sender : senders) {
        sender.close();
      }
    }
    await().until(() -> node.connections().orElseThrow() == 0);
    assertThat(link.requests("after")).isEmpty();
    assertThat(node.holder("after")).isEmpty();
  }

  @Test
  void aLinkOutlivesTheDeathOfItsNode() {
    node.begin(TckFault.DEAD, "job");
    assertThatThrownBy(() -> Client.of(link.uri())).isInstanceOf(NodeException.class);
    node.end(TckFault.DEAD, "job");

    try (Client client = Client.of(link.uri())) {
      assertThat(client.call("PING")).isEqualTo("PONG");
    }
  }
}
