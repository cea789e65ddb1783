package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

@TestInstance(Lifecycle.PER_CLASS)
class RedisNodeTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final RedisTckEnvironment environment =
      RedisTckEnvironment.builder(NoManagers.OPENER).nodes(1).keyPrefix("locks:").build();
  private final RedisNode node = (RedisNode) environment.nodes().get(0);

  @AfterEach
  void reset() {
    environment.reset();
  }

  @AfterAll
  void close() {
    environment.close();
  }

  @Test
  void theHolderIsTheValueOfThePrefixedKey() {
    try (Client client = Client.of(node.uri())) {
      client.call("SET", "locks:a job", "a token", "PX", "20000");
    }

    assertThat(node.holder("a job")).contains("a token");
    assertThat(node.timeToLive("a job")).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(20));
  }

  @Test
  void aMissingKeyHasNoHolder() {
    assertThat(node.holder("a job")).isEmpty();
    assertThat(node.timeToLive("a job")).isZero();
  }

  @Test
  void aKeyThatNeverExpiresLivesForever() {
    try (Client client = Client.of(node.uri())) {
      client.call("SET", "locks:a job", "a token");
    }

    assertThat(node.timeToLive("a job")).isEqualTo(ChronoUnit.FOREVER.getDuration());
  }

  @Test
  void anotherOwnerTakesTheLockFromAnyHolder() {
    node.occupy("a job", "first", TTL);
    node.occupy("a job", "second", TTL.multipliedBy(2));

    try (Client client = Client.of(node.uri())) {
      assertThat(client.call("GET", "locks:a job")).isEqualTo("second");
    }
    assertThat(node.timeToLive("a job")).isGreaterThan(TTL);
  }

  @Test
  void aRemovedKeyIsGoneForAnyHolder() {
    node.occupy("a job", "token", TTL);

    node.remove("a job");

    assertThat(node.holder("a job")).isEmpty();
  }

  @Test
  void requestsOfManagersAreCounted() {
    long before = requests();
    try (Client client = Client.of(node.uri())) {
      client.call("SET", "locks:a job", "token", "NX", "PX", "20000");
      client.call("EVAL", "return redis.call('DEL', KEYS[1])", "1", "locks:a job");
    }

    assertThat(requests() - before).isEqualTo(2);
  }

  @Test
  void aTransactionIsOneRequest() {
    long before = requests();
    try (Client client = Client.of(node.uri())) {
      client.call("WATCH", "locks:a job");
      client.call("GET", "locks:a job");
      client.call("MULTI");
      client.call("DEL", "locks:a job");
      client.call("EXEC");
    }

    assertThat(requests() - before).isEqualTo(1);
  }

  @Test
  void connectingIsNoRequest() {
    long before = requests();
    try (Client client = Client.of(node.uri())) {
      client.call("CLIENT", "SETNAME", "somebody");
      client.call("PING");
      client.call("INFO");
    }

    assertThat(requests()).isEqualTo(before);
  }

  @Test
  void commandsOfTheKitAreNoRequests() {
    long before = requests();
    node.occupy("a job", "token", TTL);
    node.holder("a job");
    node.timeToLive("a job");
    node.begin(TckFault.OTHER_TYPE, "a job");
    node.end(TckFault.OTHER_TYPE, "a job");
    node.connections();
    environment.reset();

    assertThat(requests()).isEqualTo(before);
  }

  @Test
  void requestsAreCountedAcrossTheDeathOfANode() {
    node.occupy("a job", "token", TTL);
    long before = requests();
    node.begin(TckFault.DEAD, "a job");
    node.end(TckFault.DEAD, "a job");
    try (Client client = Client.of(node.uri())) {
      client.call("SET", "locks:a job", "token");
    }

    assertThat(requests() - before).isEqualTo(1);
  }

  @Test
  void connectionsAreCountedExceptTheKitsOwn() {
    await().until(() -> connections() == 0);
    Client first = Client.of(node.uri());
    try (Client second = Client.of(node.uri())) {
      assertThat(first.call("PING")).isEqualTo(second.call("PING"));
      assertThat(connections()).isEqualTo(2);
      first.close();
      await().until(() -> connections() == 1);
    }
    await().until(() -> connections() == 0);
  }

  @Test
  void anAliasIsTheSameServerByAnotherName() {
    String alias = node.alias().orElseThrow();

    assertThat(alias).isNotEqualTo(node.uri());
    try (Client client = Client.of(alias)) {
      client.call("SET", "locks:a job", "by alias");
    }
    assertThat(node.holder("a job")).contains("by alias");
  }

  private long requests() {
    return ((TckNode) node).requests().orElseThrow();
  }

  private int connections() {
    return node.connections().orElseThrow();
  }
}
