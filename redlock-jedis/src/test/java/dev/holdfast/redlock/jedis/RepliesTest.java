package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.Command;
import dev.holdfast.redlock.Script;
import dev.holdfast.testnodes.TestNodes;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** In RESP3, as Jedis speaks where it can, and in RESP2. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class RepliesTest {
  private static final TestNodes SERVERS = TestNodes.start(1);

  private final Links.Kind kind;
  private final Links.Driver driver;

  RepliesTest(Links.Kind kind) {
    this.kind = kind;
    driver = Links.over(kind, SERVERS);
  }

  @BeforeEach
  void connect() throws Exception {
    SERVERS.node(0).command("FLUSHALL");
    driver.connect(0);
  }

  @AfterEach
  void close() {
    driver.close();
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void anIntegerIsALong() {
    assertThat(Asked.of(driver.nodes, "return 9007199254740991").reply())
        .isEqualTo(9007199254740991L);
    assertThat(Asked.of(driver.nodes, "return -1").reply()).isEqualTo(-1L);
  }

  @Test
  void aBulkStringIsReadAsUtf8() {
    assertThat(Asked.of(driver.nodes, "return ARGV[1]", "schlüssel 鍵 🔑").reply())
        .isEqualTo("schlüssel 鍵 🔑");
    assertThat(Asked.of(driver.nodes, "return ''").reply()).isEqualTo("");
  }

  @Test
  void aStatusIsAString() {
    assertThat(Asked.of(driver.nodes, "return redis.call('SET', KEYS[1], 'v')").reply())
        .isEqualTo("OK");
    assertThat(Asked.of(driver.nodes, "return redis.status_reply('fine')").reply())
        .isEqualTo("fine");
  }

  @Test
  void nilIsNull() {
    assertThat(Asked.of(driver.nodes, "return false").reply()).isNull();
  }

  @Test
  void anArrayIsAList() {
    assertThat(Asked.of(driver.nodes, "return {}").reply()).isEqualTo(List.of());
    assertThat(Asked.of(driver.nodes, "return {'string', '', -2}").reply())
        .isEqualTo(List.of("string", "", -2L));
  }

  @Test
  void nilKeepsItsPlaceInAnArrayAtAnyDepth() {
    assertThat(
            Asked.of(driver.nodes, "return {false, 1, {false, {}, {2, false}, 'a'}, false, 'b'}")
                .reply())
        .isEqualTo(
            Arrays.asList(
                null, 1L, Arrays.asList(null, List.of(), Arrays.asList(2L, null), "a"), null, "b"));
  }

  @Test
  void anErrorIsItsText() {
    assertThat(Asked.of(driver.nodes, "return redis.error_reply('OOM no room')").error())
        .isEqualTo("OOM no room");
    SERVERS.node(0).command("LPUSH", "the-key", "a");
    assertThat(Asked.of(driver.nodes, "return redis.call('GET', KEYS[1])").error())
        .contains("WRONGTYPE");
    Command unknown =
        new Command.Eval(new Script("", "f".repeat(40)), false, List.of("the-key"), List.of());
    assertThat(Asked.of(driver.nodes, 1, () -> {}, unknown).error()).startsWith("NOSCRIPT ");
    assertThat(Asked.of(driver.nodes, "return 1").reply()).isEqualTo(1L);
  }

  @Test
  void setIfAbsentIsOkOrNil() {
    Command set = new Command.SetIfAbsent("the-key", "mine", 10_000);
    assertThat(Asked.of(driver.nodes, 1, () -> {}, set).reply()).isEqualTo("OK");
    assertThat(Asked.of(driver.nodes, 1, () -> {}, set).reply()).isNull();
    assertThat(SERVERS.node(0).command("GET", "the-key")).isEqualTo("mine");
    assertThat((Long) SERVERS.node(0).command("PTTL", "the-key")).isBetween(1L, 10_000L);
  }

  @Test
  void infoIsOneString() {
    assertThat((String) Asked.of(driver.nodes, 1, () -> {}, new Command.Info()).reply())
        .contains("run_id:", "role:master", "maxmemory_policy:");
  }

  @Test
  void aReplyMayComeInPieces() throws Exception {
    try (Proxy pieces = new Proxy(SERVERS.node(0), SERVERS.node(0).port(), 7);
        Links.Driver behind = Links.over(kind, pieces.uri())) {
      behind.connect(0);
      assertThat(Asked.of(behind.nodes, "return {'0123456789', {}, 'abcdefghij'}").reply())
          .isEqualTo(List.of("0123456789", List.of(), "abcdefghij"));
    }
  }
}
