package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.testnodes.NodeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@TestInstance(Lifecycle.PER_CLASS)
class FaultsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String COMPARE_AND_DELETE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1])"
          + " else return 0 end";

  private final RedisTckEnvironment environment =
      RedisTckEnvironment.builder(NoManagers.OPENER).nodes(2).build();
  private final TckNode node = environment.nodes().get(0);
  private Client client = Client.of(node.uri());

  @BeforeEach
  void connect() {
    client = Client.of(node.uri());
  }

  @AfterEach
  void reset() {
    client.close();
    environment.reset();
  }

  @AfterAll
  void close() {
    environment.close();
  }

  @Test
  void aFrozenNodeDoesLaterWhatItWasSent() {
    try (Client impatient = Client.of(node.uri(), Duration.ofMillis(200))) {
      node.begin(TckFault.FROZEN, "lock");
      assertThatThrownBy(() -> impatient.call("SET", "lock", "late"))
          .isInstanceOf(NodeException.class);

      node.end(TckFault.FROZEN, "lock");

      await().until(() -> node.holder("lock").equals(Optional.of("late")));
    }
  }

  @Test
  void subscriptionsAreCountedAndCutAlone() {
    assertThat(node.subscriptions()).hasValue(0);
    try (Client other = Client.of(node.uri());
        Client subscriber = Client.of(node.uri())) {
      subscriber.call("SUBSCRIBE", "a");
      client.call("SUBSCRIBE", "a");
      client.call("PSUBSCRIBE", "b*");
      assertThat(node.subscriptions()).hasValue(3);

      node.begin(TckFault.SUBSCRIPTIONS_CUT, "");

      assertThat(node.subscriptions()).hasValue(0);
      assertThatThrownBy(() -> client.call("PING")).isInstanceOf(NodeException.class);
      assertThat(other.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void aNodeWithoutSubscriptionsRefusesTheseAloneUntilTheEnd() {
    node.begin(TckFault.NO_SUBSCRIPTIONS, "");

    try (Client subscriber = Client.of(node.uri())) {
      assertThat(subscriber.answer("SUBSCRIBE", "a")).isEqualTo("NOPERM");
      assertThat(subscriber.answer("PSUBSCRIBE", "a*")).isEqualTo("NOPERM");
      assertThat(subscriber.answer("SET", "lock", "token")).isEqualTo("OK");
      node.end(TckFault.NO_SUBSCRIPTIONS, "");
      subscriber.call("SUBSCRIBE", "a");
    }
    assertThat(node.faults()).contains(TckFault.NO_SUBSCRIPTIONS);
  }

  @Test
  void aNodeWithLeastRightsAllowsWhatThePageOfRightsLists() throws IOException {
    String page = Files.readString(Path.of("../docs/acl.md"));
    String forOperators = page.substring(page.indexOf("## Operators"));
    String line = forOperators.lines().filter(l -> l.startsWith("ACL SETUSER")).findFirst().get();

    assertThat(NodeFaultState.LEAST_RIGHTS)
        .isEqualTo(Stream.of(line.split(" ")).filter(word -> word.startsWith("+")).toList());
  }

  @Test
  void aNodeWithLeastRightsRefusesOtherCommandsUntilTheEnd() {
    node.begin(TckFault.LEAST_RIGHTS, "");

    try (Client client = Client.of(node.uri())) {
      assertThat(client.answer("EXISTS", "lock")).isEqualTo("NOPERM");
      assertThat(client.answer("SET", "lock", "token")).isEqualTo("OK");
      node.end(TckFault.LEAST_RIGHTS, "");
      assertThat(client.call("EXISTS", "lock")).isEqualTo(1L);
    }
  }

  @Test
  void aNodeThatNeedsALoginRefusesOnlyThoseWhoDoNotLogIn() {
    node.begin(TckFault.LOGIN_NEEDED, "");

    try (Client anonymous = Client.of(node.uri());
        Client known = Client.of(node.withLogin().orElseThrow())) {
      assertThat(anonymous.answer("SUBSCRIBE", "a")).isEqualTo("NOAUTH");
      assertThat(known.answer("SET", "lock", "token")).isEqualTo("OK");
    }
    environment.reset();
    try (Client anonymous = Client.of(node.uri())) {
      assertThat(anonymous.answer("SET", "lock", "token")).isEqualTo("OK");
    }
  }

  @Test
  void aFrozenNodeKeepsItsConnections() {
    node.begin(TckFault.FROZEN, "lock");
    node.end(TckFault.FROZEN, "lock");

    assertThat(client.call("PING")).isEqualTo("PONG");
  }

  @Test
  void aSlowNodePausesAgainAndAgainUntilTheEnd() {
    node.begin(TckFault.SLOW, "lock");
    for (int i = 0; i < 3; i++) {
      await().until(() -> timeOfCalls(1).compareTo(Duration.ofMillis(60)) > 0);
    }
    node.end(TckFault.SLOW, "lock");

    assertThat(timeOfCalls(20)).isLessThan(Duration.ofMillis(20 * 60));
    assertThat(node.holder("lock")).contains("late");
  }

  @Test
  void aDeadNodeComesBackEmptyAtItsAddress() {
    node.occupy("lock", "token", TTL);

    node.begin(TckFault.DEAD, "lock");
    assertThatThrownBy(() -> Client.of(node.uri())).isInstanceOf(NodeException.class);
    node.end(TckFault.DEAD, "lock");

    try (Client next = Client.of(node.uri())) {
      assertThat(next.call("GET", "lock")).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource({"REFUSING, OOM", "FORBIDDEN, NOPERM"})
  void anErrorReachesConnectionsThatAreThereAndLetsLocksBeReleased(TckFault fault, String code) {
    node.occupy("held", "token", TTL);

    node.begin(fault, "lock");

    assertThat(client.answer("SET", "lock", "token", "NX", "PX", "1000")).isEqualTo(code);
    assertThat(client.answer("EVAL", COMPARE_AND_DELETE, "1", "held", "token")).isEqualTo(1L);
    node.end(fault, "lock");
    assertThat(client.answer("SET", "lock", "token")).isEqualTo("OK");
  }

  @Test
  void theKitMayDoWhatIsForbiddenToManagers() {
    node.begin(TckFault.FORBIDDEN, "lock");

    node.occupy("lock", "token", TTL);

    assertThat(node.holder("lock")).contains("token");
  }

  @Test
  void aKeyOfAnotherTypeIsNoLock() {
    node.occupy("lock", "token", TTL);

    node.begin(TckFault.OTHER_TYPE, "lock");

    assertThat(client.answer("TYPE", "lock")).isEqualTo("list");
    assertThat(node.holder("lock")).isEmpty();
    assertThat(node.timeToLive("lock")).isGreaterThan(TTL);
    node.end(TckFault.OTHER_TYPE, "lock");
    assertThat(client.answer("EXISTS", "lock")).isEqualTo(0L);
  }

  @Test
  void aReplicaFollowsTheNextNodeAndTakesNoWrites() {
    node.begin(TckFault.REPLICA, "lock");

    assertThat(client.answer("SET", "lock", "token")).isEqualTo("READONLY");
    assertThat(String.valueOf(client.answer("INFO", "replication")))
        .contains("role:slave", environment.nodes().get(1).address().replaceAll(".*:", "port:"));
    node.end(TckFault.REPLICA, "lock");
    assertThat(client.answer("SET", "lock", "token")).isEqualTo("OK");
  }

  @Test
  void anEvictingNodeHasAPolicyThatSaysSo() {
    node.begin(TckFault.EVICTING, "lock");
    assertThat(client.answer("CONFIG", "GET", "maxmemory-policy"))
        .isEqualTo(List.of("maxmemory-policy", "allkeys-lru"));

    node.end(TckFault.EVICTING, "lock");
    assertThat(client.answer("CONFIG", "GET", "maxmemory-policy"))
        .isEqualTo(List.of("maxmemory-policy", "noeviction"));
  }

  @Test
  void cutEndsAllConnections() {
    assertThat(client.call("PING")).isEqualTo("PONG"); // the server knows the connection

    node.begin(TckFault.CUT, "lock");

    assertThatThrownBy(() -> client.call("PING")).isInstanceOf(NodeException.class);
    assertThat(node.connections()).hasValue(0);
  }

  @Test
  void scriptsAreForgotten() {
    String digest = String.valueOf(client.call("SCRIPT", "LOAD", "return 7"));
    assertThat(client.answer("EVALSHA", digest, "0")).isEqualTo(7L);

    node.begin(TckFault.SCRIPTS_FORGOTTEN, "lock");

    assertThat(client.answer("EVALSHA", digest, "0")).isEqualTo("NOSCRIPT");
  }

  @Test
  void anEmptiedNodeKeepsItsConnections() {
    node.occupy("lock", "token", TTL);

    node.begin(TckFault.EMPTIED, "lock");

    assertThat(client.answer("EXISTS", "lock")).isEqualTo(0L);
  }

  @ParameterizedTest
  @EnumSource
  void aFaultThatIsOverCanBeEndedAgain(TckFault fault) {
    node.begin(fault, "lock");
    node.end(fault, "lock");
    node.end(fault, "lock");

    try (Client next = Client.of(node.uri())) {
      assertThat(next.answer("SET", "lock", "token", "NX")).isEqualTo("OK");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNodeOfOurOwnKnowsEveryFault(TckFault fault) {
    assertThat(node.faults()).contains(fault);
  }

  private Duration timeOfCalls(int calls) {
    long begun = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      assertThat(client.call("SET", "lock", "late")).isEqualTo("OK");
    }
    return Duration.ofNanos(System.nanoTime() - begun);
  }
}
