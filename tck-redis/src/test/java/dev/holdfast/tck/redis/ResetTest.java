package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@TestInstance(Lifecycle.PER_CLASS)
class ResetTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration QUICK = Duration.ofMillis(50);

  private final RedisTckEnvironment environment =
      RedisTckEnvironment.builder(NoManagers.OPENER).rights("~* &* +@all -@scripting").build();
  private final List<TckNode> nodes = environment.nodes();

  @AfterAll
  void close() {
    environment.close();
  }

  @ParameterizedTest
  @EnumSource
  void aNodeIsSoundAfterEachFault(TckFault fault) {
    nodes.get(1).begin(fault, "lock");

    environment.reset();

    assertSound(nodes.get(1));
  }

  @Test
  void allNodesAreSoundAfterAllFaultsTogether() {
    nodes.forEach(node -> node.occupy("lock", "token", TTL));
    for (TckFault fault :
        List.of(
            TckFault.OTHER_TYPE,
            TckFault.REPLICA,
            TckFault.EVICTING,
            TckFault.REFUSING,
            TckFault.FORBIDDEN,
            TckFault.SLOW,
            TckFault.FROZEN)) {
      nodes.forEach(node -> node.begin(fault, "other"));
    }
    nodes.get(4).begin(TckFault.DEAD, "lock");

    environment.reset();

    nodes.forEach(ResetTest::assertSound);
  }

  @Test
  void keysOfAllDatabasesAreDeleted() {
    TckNode node = nodes.get(2);
    try (Client client = Client.of(node.uri())) {
      client.call("SELECT", "3");
      client.call("SET", "left", "over");

      environment.reset();

      assertThat(client.call("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void changesBehindTheKitsBackAreReverted() {
    TckNode node = nodes.get(0);
    try (Client client = Client.of(node.uri())) {
      client.call("CONFIG", "SET", "maxmemory", "1");
      client.call("ACL", "SETUSER", "holdfast-app", "resetkeys");
    }

    environment.reset();

    assertSound(node);
  }

  @Test
  void itTakesNextToNoTimeIfNothingIsWrong() {
    environment.reset();
    long quickest =
        IntStream.range(0, 20)
            .mapToLong(
                i -> {
                  long start = System.nanoTime();
                  environment.reset();
                  return System.nanoTime() - start;
                })
            .min()
            .orElseThrow();

    assertThat(Duration.ofNanos(quickest)).isLessThan(QUICK);
  }

  @Test
  void aNodeThatCannotBeRestoredIsAnError() {
    try (RedisTckEnvironment broken =
            RedisTckEnvironment.builder(NoManagers.OPENER).nodes(1).build();
        Client client = Client.of(broken.nodes().get(0).uri())) {
      client.call("ACL", "SETUSER", OwnConnection.NAME, "-flushall");
      client.call("SET", "lock", "token");

      assertThatThrownBy(broken::reset).hasMessageContaining("flushall");
    }
  }

  private static void assertSound(TckNode node) {
    try (Client client = Client.of(node.uri())) {
      assertThat(client.answer("DBSIZE")).isEqualTo(0L);
      assertThat(client.answer("SET", "lock", "token", "NX")).isEqualTo("OK");
      assertThat(client.answer("EVAL", "return 1", "0")).as("as before").isEqualTo("NOPERM");
      assertThat(client.answer("CONFIG", "GET", "maxmemory*"))
          .asInstanceOf(InstanceOfAssertFactories.LIST)
          .contains("noeviction", "0");
      client.call("DEL", "lock");
    }
  }
}
