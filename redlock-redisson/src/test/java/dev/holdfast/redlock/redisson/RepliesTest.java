package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.Command;
import dev.holdfast.redlock.Script;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** In RESP2, as our own client speaks, and in RESP3, as a user's client may. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class RepliesTest {
  private static final TestNodes SERVERS = TestNodes.start(1);

  private final Links.Driver driver;

  RepliesTest(Links.Kind kind) {
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

  /** Redisson has a class for each of these, takes some of them apart, and wraps them all. */
  @Test
  void anErrorIsItsTextWhateverRedissonMakesOfIt() {
    List<String> errors =
        List.of(
            "ERR something is wrong. channel: 7",
            "OOM command not allowed",
            "ERR Error running script: @user_script:1: -MISCONF no",
            "NOSCRIPT No matching script",
            "READONLY You can't write",
            "LOADING Redis is loading",
            "BUSY Redis is busy",
            "MASTERDOWN Link down",
            "CLUSTERDOWN Hash slot not served",
            "TRYAGAIN Multiple keys",
            "NOREPLICAS Not enough",
            "NOAUTH Authentication required",
            "NOPERM no",
            "WRONGPASS invalid",
            "WAIT cannot be used",
            "MOVED 3999 127.0.0.1:6381",
            "ASK 3999 h1:6381",
            "REDIRECT h1:6381");
    for (String error : errors) {
      assertThat(Asked.of(driver.nodes, "return {err = ARGV[1]}", error).error()).isEqualTo(error);
    }
    assertThat(Asked.of(driver.nodes, "return 1").reply()).isEqualTo(1L);
  }

  @Test
  void anErrorInABatchIsOfItsOwnCommandAlone() {
    List<Asked> all =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    i % 3 == 0
                        ? Asked.of(driver.nodes, "return {err = ARGV[1]}", "OOM " + i)
                        : Asked.of(driver.nodes, "return ARGV[1]", "" + i))
            .toList();
    for (int i = 0; i < all.size(); i++) {
      if (i % 3 == 0) {
        assertThat(all.get(i).error()).isEqualTo("OOM " + i);
      } else {
        assertThat(all.get(i).reply()).isEqualTo("" + i);
      }
    }
  }

  /** What Redis 6.2 says hides the code in the midst; it is to be found all the same. */
  @Test
  void whatAFullServerSaysInsideAScriptBeginsWithItsCode() {
    TestNode server = SERVERS.node(0);
    server.command("CONFIG", "SET", "maxmemory", "1");
    try {
      assertThat(Asked.of(driver.nodes, "return redis.call('SET', KEYS[1], 'v')").error())
          .contains("OOM command not allowed");
    } finally {
      server.command("CONFIG", "SET", "maxmemory", "0");
    }
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
}
