package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Connections;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The other connection to a node, on which transactions are run, from a pool of one, too. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class SecondConnectionTest {
  private static final TestNodes SERVERS = TestNodes.start(2);
  private static final TestNode SERVER = SERVERS.node(0);
  private static final String SET = "return redis.call('SET', KEYS[1], ARGV[1])";

  private final Driver driver;
  private final RedisConnections second;
  private final AtomicInteger firstEnds;
  private final AtomicInteger secondEnds;

  SecondConnectionTest(Links.Kind kind) throws Exception {
    driver = Links.over(kind, SERVERS.uris());
    second = driver.nodes().second();
    firstEnds = driver.connect(0);
    secondEnds = driver.connectSecond(0);
  }

  @BeforeEach
  void empty() {
    SERVER.command("FLUSHALL");
  }

  @AfterEach
  void close() {
    driver.close();
    soon().until(() -> Connections.to(SERVER) == 0);
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void itIsOneConnectionToTheSameServer() {
    Object id = idOf(second);
    assertThat(idOf(driver.first())).isNotEqualTo(id);
    for (int i = 0; i < 100; i++) {
      assertThat(idOf(second)).isEqualTo(id);
    }
  }

  @Test
  void aTransactionSucceedsIfNoClientChangesTheKey() {
    SERVER.command("SET", "the-key", "mine");
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    assertThat(ask("GET", "the-key").reply()).isEqualTo("mine");
    assertThat(ask("MULTI").reply()).isEqualTo("OK");
    assertThat(ask("DEL", "the-key").reply()).isEqualTo("QUEUED");
    assertThat(ask("EXEC").reply()).isEqualTo(List.of(1L));
  }

  @Test
  void aTransactionFailsIfTheFirstConnectionChangesTheKey() {
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    assertThat(Asked.of(driver.first(), SET, "another's").reply()).isEqualTo("OK");
    assertThat(ask("MULTI").reply()).isEqualTo("OK");
    assertThat(ask("DEL", "the-key").reply()).isEqualTo("QUEUED");
    assertThat(ask("EXEC").reply()).isNull();
    assertThat(SERVER.command("GET", "the-key")).isEqualTo("another's");
  }

  @Test
  void endOfOneConnectionLeavesTheOtherOpen() throws Exception {
    SERVER.command("CLIENT", "KILL", "ID", String.valueOf(idOf(second)));
    soon().until(() -> secondEnds.get() == 1);
    assertThat(ask("PING").failure()).isNotNull();
    assertThat(Asked.of(driver.first(), SET, "a").reply()).isEqualTo("OK");
    assertThat(firstEnds).hasValue(0);

    driver.connectSecond(0);
    assertThat(ask("PING").reply()).isEqualTo("PONG");
    assertThat(secondEnds).hasValue(1);
  }

  @Test
  void nothingOfATransactionOutlivesItsConnection() throws Exception {
    Object id = idOf(second);
    assertThat(ask("MULTI").reply()).isEqualTo("OK");
    second.disconnect(0);
    soon().until(() -> secondEnds.get() == 1);

    driver.connectSecond(0);
    assertThat(ask("SET", "the-key", "now").reply()).isEqualTo("OK");
    assertThat(idOf(second)).isNotEqualTo(id);
    assertThat(SERVER.command("GET", "the-key")).isEqualTo("now");
  }

  private Asked ask(String... words) {
    return Asked.plainly(second, 0, words);
  }

  private Object idOf(RedisConnections connections) {
    return String.valueOf(Asked.plainly(connections, 0, "CLIENT", "ID").reply());
  }
}
