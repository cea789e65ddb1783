package dev.holdfast.drivertests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testnodes.TestNode;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The values of all kinds of replies, in RESP2 and in RESP3. */
public abstract class RepliesContract {
  @RegisterExtension static final OneServer SERVER = new OneServer();

  /** The only one. */
  protected final TestNode server = SERVER.node();

  /** Connected. */
  protected final Driver driver;

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected RepliesContract(Function<List<String>, Driver> drivers) {
    driver = SERVER.open(drivers);
  }

  @BeforeEach
  void connect() throws Exception {
    server.command("FLUSHALL");
    driver.connect(0);
  }

  @Test
  void anIntegerIsALong() {
    assertThat(Asked.of(driver.first(), "return 9007199254740991").reply())
        .isEqualTo(9007199254740991L);
    assertThat(Asked.of(driver.first(), "return -1").reply()).isEqualTo(-1L);
  }

  @Test
  void aBulkStringIsReadAsUtf8() {
    assertThat(Asked.of(driver.first(), "return ARGV[1]", "schlüssel 鍵 🔑").reply())
        .isEqualTo("schlüssel 鍵 🔑");
    assertThat(Asked.of(driver.first(), "return ''").reply()).isEqualTo("");
  }

  @Test
  void aStatusIsAString() {
    assertThat(Asked.of(driver.first(), "return redis.call('SET', KEYS[1], 'v')").reply())
        .isEqualTo("OK");
    assertThat(Asked.of(driver.first(), "return redis.status_reply('fine')").reply())
        .isEqualTo("fine");
  }

  @Test
  void nilIsNull() {
    assertThat(Asked.of(driver.first(), "return false").reply()).isNull();
  }

  @Test
  void anArrayIsAList() {
    assertThat(Asked.of(driver.first(), "return {}").reply()).isEqualTo(List.of());
    assertThat(Asked.of(driver.first(), "return {'string', '', -2}").reply())
        .isEqualTo(List.of("string", "", -2L));
  }

  @Test
  void nilKeepsItsPlaceInAnArrayAtAnyDepth() {
    assertThat(
            Asked.of(driver.first(), "return {false, 1, {false, {}, {2, false}, 'a'}, false, 'b'}")
                .reply())
        .isEqualTo(
            Arrays.asList(
                null, 1L, Arrays.asList(null, List.of(), Arrays.asList(2L, null), "a"), null, "b"));
  }

  @Test
  void anErrorIsItsText() {
    assertThat(Asked.of(driver.first(), "return redis.error_reply('OOM no room')").error())
        .isEqualTo("OOM no room");
    server.command("LPUSH", "the-key", "a");
    assertThat(Asked.of(driver.first(), "return redis.call('GET', KEYS[1])").error())
        .contains("WRONGTYPE");
    Command unknown =
        new Command.Eval(new Script("", "f".repeat(40)), false, List.of("the-key"), List.of());
    assertThat(Asked.of(driver.first(), NodeSet.of(0), () -> {}, unknown).error())
        .startsWith("NOSCRIPT ");
    assertThat(Asked.of(driver.first(), "return 1").reply()).isEqualTo(1L);
  }

  @Test
  void setIfAbsentIsOkOrNil() {
    Command set = new Command.SetIfAbsent("the-key", "mine", 10_000);
    assertThat(Asked.of(driver.first(), NodeSet.of(0), () -> {}, set).reply()).isEqualTo("OK");
    assertThat(Asked.of(driver.first(), NodeSet.of(0), () -> {}, set).reply()).isNull();
    assertThat(server.command("GET", "the-key")).isEqualTo("mine");
    assertThat((Long) server.command("PTTL", "the-key")).isBetween(1L, 10_000L);
  }

  @Test
  void infoIsOneString() {
    assertThat(
            (String) Asked.of(driver.first(), NodeSet.of(0), () -> {}, new Command.Info()).reply())
        .contains("run_id:", "role:master", "maxmemory_policy:");
  }
}
