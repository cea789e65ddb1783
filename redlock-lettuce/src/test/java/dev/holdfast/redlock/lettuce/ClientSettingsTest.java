package dev.holdfast.redlock.lettuce;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A client that could send a command twice is refused, whatever else it can. */
class ClientSettingsTest {
  private final RedisClient client = RedisClient.create();

  @AfterEach
  void shutdown() {
    client.shutdown();
  }

  static Stream<ClientOptions> replaying() {
    return Stream.of(
        ClientOptions.create(),
        ClientOptions.builder().autoReconnect(true).replayFilter(command -> true).build(),
        ClientOptions.builder().disconnectedBehavior(DisconnectedBehavior.ACCEPT_COMMANDS).build());
  }

  @ParameterizedTest
  @MethodSource("replaying")
  void aClientThatCanReplayIsRefusedByNameOfTheSetting(ClientOptions options) {
    client.setOptions(options);
    assertThatThrownBy(() -> builder("redis://app:s3cret@127.0.0.1:1/2").open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("127.0.0.1:1/2")
        .hasMessageContaining("autoReconnect=true")
        .hasMessageContaining("disconnectedBehavior=" + options.getDisconnectedBehavior())
        .hasMessageContaining("set autoReconnect(false) or disconnectedBehavior(REJECT_COMMANDS)")
        .hasMessageNotContaining("s3cret");
  }

  static Stream<ClientOptions> notReplaying() {
    return Stream.of(
        ClientOptions.builder().autoReconnect(false).build(),
        ClientOptions.builder()
            .autoReconnect(true)
            .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
            .build());
  }

  @ParameterizedTest
  @MethodSource("notReplaying")
  void aClientThatCannotReplayIsTaken(ClientOptions options) {
    client.setOptions(options);
    assertThatThrownBy(() -> builder("redis://127.0.0.1:1").open())
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("refused");
  }

  /**
   * The reason why the filter does not count. If this fails, Lettuce has corrected it, and it can.
   */
  @Test
  void lettuceReplaysWhatItsReplayFilterFilters() throws Exception {
    client.setOptions(ClientOptions.builder().replayFilter(command -> true).build());
    try (TestNodes servers = TestNodes.start(1);
        FaultProxy proxy = new FaultProxy(servers.node(0).host(), servers.node(0).port());
        StatefulRedisConnection<String, String> connection =
            client.connect(RedisURI.create(proxy.uri()))) {
      TestNode server = servers.node(0);
      proxy.loseReplies(true);
      connection.async().incr("count");
      soon().until(() -> "1".equals(server.command("GET", "count")));

      proxy.loseReplies(false);
      proxy.cut();

      soon().until(() -> "2".equals(server.command("GET", "count")));
    }
  }

  @Test
  void anAddressThatIsListedTwiceIsRefused() {
    assertThatThrownBy(
            () ->
                LettuceRedlock.builder()
                    .node(RedisURI.create("redis://h1:7000"))
                    .node(RedisURI.create("redis://:s3cret@h1:7000"))
                    .open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("node h1:7000 is listed twice: list each server once");
  }

  @Test
  void aManagerThatIsRefusedLeavesNoFileOpen() {
    client.setOptions(ClientOptions.create());
    assertLeavesNoFileOpen(builder("redis://127.0.0.1:1"));
    assertLeavesNoFileOpen(
        LettuceRedlock.builder()
            .node(RedisURI.create("redis://h1:7000"))
            .node(RedisURI.create("redis://h1:7000")));
  }

  private static void assertLeavesNoFileOpen(LettuceRedlock.Builder builder) {
    assertThatThrownBy(builder::open).isInstanceOf(LockConfigurationException.class);
    long before = openFiles();
    for (int i = 0; i < 50; i++) {
      assertThatThrownBy(builder::open).isInstanceOf(LockConfigurationException.class);
    }
    soon().untilAsserted(() -> assertThat(openFiles()).isLessThan(before + 50));
  }

  private static long openFiles() {
    return ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class)
        .getOpenFileDescriptorCount();
  }

  @Test
  void sentinelsAreRefused() {
    RedisURI sentinels = RedisURI.create("redis-sentinel://s3cret@h1:26379,h2:26379#mymaster");
    assertThatThrownBy(() -> LettuceRedlock.builder().node(sentinels))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("give the address of each master itself");
  }

  @Test
  void noNodeIsRefused() {
    assertThatThrownBy(() -> LettuceRedlock.builder().open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there are 0 nodes");
  }

  @Test
  void addressesAreReadable() {
    assertThat(LettuceNode.address(RedisURI.create("redis://u:p@h1:7000/3")))
        .isEqualTo("h1:7000/3");
    RedisURI six = RedisURI.create("h", 7000);
    six.setHost("::1");
    assertThat(LettuceNode.address(six)).isEqualTo("[::1]:7000");
    assertThat(LettuceNode.address(RedisURI.Builder.socket("/run/redis.sock").build()))
        .isEqualTo("/run/redis.sock");
  }

  private LettuceRedlock.Builder builder(String uri) {
    return LettuceRedlock.builder()
        .options(RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(5)))
        .client(client, RedisURI.create(uri));
  }
}
