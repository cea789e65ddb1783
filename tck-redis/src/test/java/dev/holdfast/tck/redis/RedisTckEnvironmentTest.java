package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RedisTckEnvironmentTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @Test
  void fiveServersAreStartedAndManagersAreOpenedByAUrlOfThem() {
    try (RedisTckEnvironment environment = RedisTckEnvironment.of("nobodys:")) {
      String url = environment.url().orElseThrow();

      assertThat(environment.nodes()).hasSize(5);
      assertThat(url).isEqualTo("nobodys:" + String.join(",", uris(environment)));
      assertThatThrownBy(() -> environment.open(Map.of()))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(url);
    }
  }

  @Test
  void theNodesStandWhereTheUrlSays() {
    try (RedisTckEnvironment environment =
        RedisTckEnvironment.builder("nobodys:{nodes}?drift=2%").nodes(2).build()) {
      assertThat(environment.url())
          .contains("nobodys:" + String.join(",", uris(environment)) + "?drift=2%");
    }
  }

  @Test
  void anOpenerIsGivenNodesAndOptions() {
    List<Object> given = new ArrayList<>();
    RedisTckEnvironment.Opener opener =
        (uris, options) -> {
          given.addAll(List.of(uris, options));
          return LockManager.open("memory:");
        };
    try (RedisTckEnvironment environment = RedisTckEnvironment.builder(opener).nodes(1).build()) {
      environment.open(Map.of("owner", "me")).close();
      assertThat(given).containsExactly(uris(environment), Map.of("owner", "me"));

      given.clear();
      environment.openOn(List.of("redis://elsewhere"), Map.of()).close();
      assertThat(given).containsExactly(List.of("redis://elsewhere"), Map.of());
      assertThat(environment.url()).isEmpty();
    }
  }

  @Test
  void anOpenerLeavesTheUrlToOthers() {
    try (RedisTckEnvironment environment =
        RedisTckEnvironment.builder("nobodys:").nodes(1).opener(NoManagers.OPENER).build()) {
      assertThat(environment.url()).contains("nobodys:" + uris(environment).get(0));
      assertThatThrownBy(() -> environment.open(Map.of())).isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void theSettingsOfTheAuthorAreUsed() {
    List<Duration> steps = new ArrayList<>();
    TckTiming timing = new TckTiming(TTL, TTL, TTL, TTL, TTL);
    try (RedisTckEnvironment environment =
        RedisTckEnvironment.builder(NoManagers.OPENER)
            .nodes(1)
            .timing(timing)
            .clock(steps::add)
            .brokenByDesign(Map.of("ACQ-11", "not yet"))
            .build()) {
      environment.clock().orElseThrow().step(TTL);

      assertThat(steps).containsExactly(TTL);
      assertThat(environment.timing()).isEqualTo(timing);
      assertThat(environment.brokenByDesign()).isEqualTo(Map.of("ACQ-11", "not yet"));
    }
  }

  @Test
  void locksWithoutFencingTokensAreTestedWhereTheUrlLeavesThemOpen() {
    assertThat(optionSets("redlock:any:")).containsExactly(Map.of("fencing", "false"));
    assertThat(optionSets("redlock:any:{nodes}?fencing=true")).isEmpty();
    assertThat(optionSets("nobodys:")).isEmpty();
  }

  private static List<Map<String, String>> optionSets(String url) {
    try (RedisTckEnvironment environment = RedisTckEnvironment.builder(url).nodes(1).build()) {
      return environment.optionSets();
    }
  }

  @Test
  void managersLogInAsTheUserWhoseRightsWereGiven() {
    try (RedisTckEnvironment environment =
            RedisTckEnvironment.builder("nobodys:").nodes(1).rights("~* &* +@all -set").build();
        Client client = Client.of(uris(environment).get(0))) {
      assertThat(client.answer("SET", "lock", "token")).isEqualTo("NOPERM");
      assertThat(client.answer("GET", "lock")).isNull();
    }
  }

  @Test
  void factsShowTheServersAndTheirSource() {
    try (RedisTckEnvironment environment = RedisTckEnvironment.of("nobodys:")) {
      assertThat(environment.facts().get("servers")).matches("5 × (redis|valkey) \\d+\\.\\d+\\S*");
      assertThat(environment.facts().get("source of servers"))
          .isEqualTo(System.getProperty("holdfast.testNodes", "embedded"));
    }
  }

  @Test
  void serversThatRunAlreadyAreUsedAndLeftEmptyAndRunning() {
    try (TestNodes running = TestNodes.start(2)) {
      try (RedisTckEnvironment environment =
          RedisTckEnvironment.builder("nobodys:").running(running.uris()).build()) {
        TckNode node = environment.nodes().get(1);
        node.occupy("lock", "token", TTL);

        assertThat(uris(environment)).isEqualTo(running.uris());
        assertThat(running.node(1).command("GET", "lock")).isEqualTo("token");
        assertThat(node.faults())
            .contains(
                TckFault.SLOW,
                TckFault.REFUSING,
                TckFault.FORBIDDEN,
                TckFault.REPLICA,
                TckFault.EVICTING)
            .doesNotContain(TckFault.FROZEN, TckFault.DEAD, TckFault.LEAST_RIGHTS);
        assertThatThrownBy(() -> node.begin(TckFault.FROZEN, "lock"))
            .isInstanceOf(UnsupportedOperationException.class);
        assertThat(environment.facts()).containsEntry("source of servers", "running already");
        node.begin(TckFault.REFUSING, "lock");
        node.begin(TckFault.FORBIDDEN, "lock");
      }
      assertThat(running.node(1).command("DBSIZE")).isEqualTo(0L);
      assertThat(running.node(1).command("SET", "lock", "theirs")).isEqualTo("OK");
    }
  }

  @Test
  void faultsThatARunningServerDoesNotAllowAreNotKnown() {
    try (TestNodes running =
            TestNodes.builder()
                .count(1)
                .config("user kit on >secret ~* &* +@all -config -acl -replicaof")
                .start();
        RedisTckEnvironment environment =
            RedisTckEnvironment.builder("nobodys:")
                .running(List.of("redis://kit:secret@" + running.node(0).address()))
                .build()) {
      assertThat(environment.nodes().get(0).faults())
          .containsExactlyInAnyOrder(
              TckFault.SLOW,
              TckFault.OTHER_TYPE,
              TckFault.CUT,
              TckFault.SUBSCRIPTIONS_CUT,
              TckFault.SCRIPTS_FORGOTTEN,
              TckFault.EMPTIED);
      environment.nodes().get(0).occupy("lock", "token", TTL);
      environment.reset();
      assertThat(environment.nodes().get(0).holder("lock")).isEmpty();
    }
  }

  @Test
  void serversWithKeysAreLeftAlone() {
    try (TestNodes running = TestNodes.start(1)) {
      running.node(0).command("SET", "dear", "data");

      assertThatThrownBy(
              () -> RedisTckEnvironment.builder("nobodys:").running(running.uris()).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(running.node(0).address())
          .hasMessageContaining("give it empty ones");
      assertThat(running.node(0).command("GET", "dear")).isEqualTo("data");
    }
  }

  @Test
  void replicasAreLeftAlone() {
    try (TestNodes running = TestNodes.start(1)) {
      running.node(0).command("REPLICAOF", running.node(0).host(), "1");

      assertThatThrownBy(
              () -> RedisTckEnvironment.builder("nobodys:").running(running.uris()).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is a replica");
      assertThat(String.valueOf(running.node(0).command("INFO", "replication")))
          .contains("role:slave");
    }
  }

  private static List<String> uris(RedisTckEnvironment environment) {
    return environment.nodes().stream().map(TckNode::uri).toList();
  }
}
