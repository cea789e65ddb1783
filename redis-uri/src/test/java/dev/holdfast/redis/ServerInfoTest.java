package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerInfoTest {
  @Test
  void fieldsAreReadAndAllElseIsLeftOut() {
    assertThat(ServerInfo.in("# Server\r\nrun_id:abc\r\n\r\nos: Linux 6.1: x \r\n:no name\r\n"))
        .isEqualTo(new ServerInfo(Map.of("run_id", "abc", "os", "Linux 6.1: x")));
  }

  @Test
  void aReplicaNamesItsMaster() {
    ServerInfo replica = ServerInfo.in("role:slave\r\nmaster_host:h1\r\nmaster_port:6380\r\n");

    assertThat(replica.isReplica()).isTrue();
    assertThat(replica.master()).isEqualTo("h1:6380");
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis_mode:sentinel", "server_mode:sentinel\r\nredis_mode:standalone"})
  void aSentinelOfRedisOrValkeyIsRecognised(String reply) {
    assertThat(ServerInfo.in(reply).isSentinel()).isTrue();
  }

  @Test
  void aServerThatShowsNothingLooksLikeAMasterOfItsOwn() {
    ServerInfo hidden = ServerInfo.in("");

    assertThat(hidden.isSentinel()).isFalse();
    assertThat(hidden.isReplica()).isFalse();
    assertThat(hidden.isInCluster()).isFalse();
    assertThat(hidden.runId()).isNull();
    assertThat(hidden.evictionPolicy()).isEqualTo("noeviction");
  }

  @Test
  void aMemberOfAClusterIsRecognised() {
    assertThat(ServerInfo.in("cluster_enabled:1").isInCluster()).isTrue();
    assertThat(ServerInfo.in("cluster_enabled:0").isInCluster()).isFalse();
  }
}
