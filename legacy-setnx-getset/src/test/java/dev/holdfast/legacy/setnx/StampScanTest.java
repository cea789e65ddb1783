package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.OPTIONAL;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scan of a real server. */
class StampScanTest {
  private static final int FAST = 10_000_000;

  /** A time in November 2023. */
  private static final String PAST = "1700000000";

  private static final Pattern BYTES_SENT = Pattern.compile("total_net_output_bytes:(\\d+)");

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  @BeforeEach
  void empty() {
    NODE.command("FLUSHALL");
    NODE.resetCommandCounts();
  }

  @Test
  void findsStampsOfEachUnitAndNumber() throws Exception {
    String ahead = Long.toString(Instant.now().getEpochSecond() + 30);
    NODE.command("SET", "seconds", ahead);
    NODE.command("SET", "millis", ahead + "500");
    NODE.command("SET", "seconds, float", PAST + ".25");
    NODE.command("SET", "millis, float", PAST + "000.5");
    NODE.command("SET", "as a double is written", "1.7000000005E9");
    NODE.command("SET", "with a ttl", PAST, "PX", "60000");

    Map<String, FoundStamp> found = byName(scan("*"));

    assertThat(found).hasSize(6);
    assertThat(found.get("seconds"))
        .returns("s", FoundStamp::unit)
        .returns("integer", FoundStamp::number)
        .returns(Instant.ofEpochSecond(Long.parseLong(ahead)), FoundStamp::passes)
        .returns(Optional.empty(), FoundStamp::ttl)
        .returns(true, FoundStamp::wasLive);
    assertThat(found.get("millis"))
        .returns("ms", FoundStamp::unit)
        .returns("integer", FoundStamp::number)
        .returns(Instant.ofEpochSecond(Long.parseLong(ahead)).plusMillis(500), FoundStamp::passes);
    assertThat(found.get("seconds, float"))
        .returns("s", FoundStamp::unit)
        .returns("float", FoundStamp::number)
        .returns(Instant.ofEpochSecond(Long.parseLong(PAST), 250_000_000), FoundStamp::passes)
        .returns(false, FoundStamp::wasLive);
    assertThat(found.get("millis, float"))
        .returns("ms", FoundStamp::unit)
        .returns("float", FoundStamp::number)
        .returns(Instant.ofEpochSecond(Long.parseLong(PAST), 500_000), FoundStamp::passes);
    assertThat(found.get("as a double is written"))
        .returns("s", FoundStamp::unit)
        .returns("float", FoundStamp::number)
        .returns(Instant.ofEpochSecond(1_700_000_000, 500_000_000), FoundStamp::passes);
    assertThat(found.get("with a ttl"))
        .extracting(FoundStamp::ttl, as(OPTIONAL))
        .hasValueSatisfying(
            ttl ->
                assertThat((Duration) ttl).isBetween(Duration.ofSeconds(1), Duration.ofMinutes(1)));
  }

  @Test
  void takesNothingElseForAStamp() throws Exception {
    List<String> others =
        List.of(
            "",
            "0",
            "42",
            "hello",
            "-" + PAST,
            "+" + PAST,
            PAST + " ",
            " " + PAST,
            PAST + ".x",
            PAST + "0",
            PAST + "00",
            "0700000000",
            "999999999",
            "4000000000",
            "9999999999999",
            PAST + "000000",
            "host:" + PAST,
            "0x6553f100",
            "1.7e-9",
            PAST + "." + "1".repeat(43));
    for (int i = 0; i < others.size(); i++) {
      NODE.command("SET", "other" + i, others.get(i));
    }
    NODE.command("RPUSH", "list", PAST);
    NODE.command("SADD", "set", PAST);
    NODE.command("HSET", "hash", PAST, PAST);
    NODE.command("ZADD", "zset", PAST, PAST);
    NODE.command("XADD", "stream", "*", PAST, PAST);

    StampScan.Result result = run("*", FAST);

    assertThat(result.stamps()).isEmpty();
    assertThat(result.keys()).isEqualTo(others.size() + 5);
  }

  @Test
  void looksOnlyAtNamesThatMatch() throws Exception {
    NODE.command("SET", "lock.a", PAST);
    NODE.command("SET", "lock.ü", PAST);
    NODE.command("SET", "other", PAST);

    assertThat(byName(scan("lock.*"))).containsOnlyKeys("lock.a", "lock.ü");
    assertThat(byName(scan("*ü"))).containsOnlyKeys("lock.ü");
  }

  @Test
  void looksInTheDatabaseThatIsNamed() throws Exception {
    try (RawRedis raw = RawRedis.connect(NODE.host(), NODE.port())) {
      raw.call("SELECT", "3");
      raw.call("SET", "third", PAST);
    }

    assertThat(scan("*")).isEmpty();
    try (StampScan third = StampScan.open(URI.create(NODE.uri() + "/3"))) {
      assertThat(byName(third.run("*", FAST, keys -> {}).stamps())).containsOnlyKeys("third");
    }
  }

  @Test
  void binaryNamesAreSupported() throws Exception {
    NODE.command("EVAL", "return redis.call('SET', 'lock.\\255\\10\\\\', '" + PAST + "')", "0");

    List<FoundStamp> found = scan("*");

    assertThat(byName(found)).containsOnlyKeys("\"lock.\\xff\\x0a\\\\\"");
    assertThat(delete(found)).isEmpty();
    assertThat(NODE.command("DBSIZE")).isEqualTo(0L);
  }

  @Test
  void largeValuesAreNotFetchedWhole() throws Exception {
    NODE.command("SET", "large", PAST);
    NODE.command("SETRANGE", "large", "5000000", PAST);
    long before = bytesSent();

    assertThat(scan("*")).isEmpty();

    assertThat(bytesSent() - before).isLessThan(100_000);
  }

  @Test
  void hundredThousandKeysAreScannedWithinTheRateWithoutTheKeysCommand() throws Exception {
    NODE.fill("key:", 100_000);
    NODE.command("SET", "lock.a", PAST);
    List<Long> notified = new ArrayList<>();
    long begun = System.nanoTime();

    StampScan.Result result;
    try (StampScan scan = open()) {
      assertThat(scan.keys()).isEqualTo(100_001);
      result = scan.run("*", 50_000, notified::add);
    }

    assertThat(millisSince(begun)).isGreaterThanOrEqualTo(2_000);
    assertThat(result.keys()).isGreaterThanOrEqualTo(100_001);
    assertThat(byName(result.stamps())).containsOnlyKeys("lock.a");
    assertThat(notified).isSorted().hasSizeGreaterThan(90);
    assertThat(notified.get(notified.size() - 1)).isEqualTo(result.keys());
    assertThat(NODE.commandCounts())
        .doesNotContainKey("keys")
        .doesNotContainKey("get")
        .hasEntrySatisfying("scan", calls -> assertThat(calls).isGreaterThan(90));
  }

  @Test
  void rateLimitsScannedKeysNotMatchingKeys() throws Exception {
    NODE.fill("key:", 20_000);
    NODE.command("SET", "lock.a", PAST);
    long begun = System.nanoTime();

    StampScan.Result result = run("lock.*", 20_000);

    assertThat(millisSince(begun)).isGreaterThanOrEqualTo(950);
    assertThat(result.keys()).isEqualTo(1);
  }

  @Test
  void keysThatVanishBetweenTwoPagesDoNotMatter() throws Exception {
    for (int i = 0; i < 300; i++) {
      NODE.command("SET", "lock." + i, PAST);
    }
    AtomicBoolean flushed = new AtomicBoolean();

    try (StampScan scan = open()) {
      StampScan.Result result =
          scan.run(
              "*",
              1_000,
              keys -> {
                if (flushed.compareAndSet(false, true)) {
                  NODE.command("FLUSHALL");
                }
              });
      assertThat(result.stamps()).hasSizeBetween(1, 299);
    }
  }

  @Test
  void concurrentChangesOfKeysDoNotMatter() throws Exception {
    for (int i = 0; i < 100; i++) {
      NODE.command("SET", "lock." + i, PAST);
    }
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Void> churn =
        CompletableFuture.runAsync(
            () -> {
              try (RawRedis raw = RawRedis.connect(NODE.host(), NODE.port())) {
                String change =
                    "for i = 1, 100 do local k = 'churn' .. i; redis.call('DEL', k);"
                        + " if (i + ARGV[1]) % 3 == 0 then redis.call('SET', k, '"
                        + PAST
                        + "') elseif (i + ARGV[1]) % 3 == 1 then redis.call('RPUSH', k, 1) end end";
                for (int round = 0; !over.get(); round++) {
                  raw.call("EVAL", change, "0", Integer.toString(round));
                  begun.countDown();
                }
              }
            });
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

    try {
      for (int i = 0; i < 50; i++) {
        assertThat(byName(scan("*")).keySet())
            .filteredOn(name -> name.startsWith("lock."))
            .hasSize(100);
      }
    } finally {
      over.set(true);
    }
    churn.get(10, TimeUnit.SECONDS);
  }

  @Test
  void stampThatPassesDuringTheScanIsStillLive() throws Exception {
    int count = 400;
    StampScan.Result result;
    try (StampScan scan = open()) {
      String soon = Long.toString(Instant.now().plusSeconds(2).toEpochMilli());
      for (int i = 0; i < count; i++) {
        NODE.command("SET", "lock." + i, soon);
      }
      result = scan.run("*", 100, keys -> {});
    }

    assertThat(result.stamps()).hasSize(count);
    assertThat(result.stamps()).allMatch(stamp -> stamp.passes().isBefore(result.at()));
    assertThat(result.stamps())
        .allMatch(stamp -> !stamp.seen().isBefore(result.begun()))
        .anyMatch(FoundStamp::wasLive)
        .anyMatch(stamp -> !stamp.wasLive());
  }

  @Test
  void countsCallsOfTheOldCommandsDuringTheScan() throws Exception {
    NODE.command("SETNX", "lock.before", PAST);
    AtomicBoolean called = new AtomicBoolean();

    try (StampScan scan = open()) {
      StampScan.Result result =
          scan.run(
              "*",
              FAST,
              keys -> {
                if (called.compareAndSet(false, true)) {
                  NODE.command("SETNX", "lock.brief", PAST);
                  NODE.command("SETNX", "lock.brief", PAST);
                  NODE.command("GETSET", "lock.brief", PAST);
                  NODE.command("DEL", "lock.brief");
                }
              });

      assertThat(result.calls()).isEqualTo(new StampScan.Calls(2, 1));
      assertThat(result.calls().any()).isTrue();
      assertThat(scan.run("*", FAST, keys -> {}).calls()).isEqualTo(new StampScan.Calls(0, 0));
    }
  }

  @Test
  void countsCallsSinceTheCountersWereReset() throws Exception {
    for (int i = 0; i < 5; i++) {
      NODE.command("SETNX", "lock.before", PAST);
    }

    try (StampScan scan = open()) {
      StampScan.Result result =
          scan.run(
              "*",
              FAST,
              keys -> {
                NODE.resetCommandCounts();
                NODE.command("SETNX", "lock.before", PAST);
              });

      assertThat(result.calls()).isEqualTo(new StampScan.Calls(1, 0));
    }
  }

  @Test
  void deletesUnchangedStampsAndLeavesTheRest() throws Exception {
    for (String key : List.of("same", "longer", "other", "list", "gone")) {
      NODE.command("SET", key, PAST);
    }
    List<FoundStamp> seen = scan("*");
    NODE.command("SET", "longer", PAST + ".5");
    NODE.command("SET", "other", "1700000001");
    NODE.command("DEL", "list");
    NODE.command("RPUSH", "list", PAST);
    NODE.command("DEL", "gone");

    assertThat(byName(delete(seen))).containsOnlyKeys("longer", "other", "list", "gone");

    assertThat(NODE.command("EXISTS", "same")).isEqualTo(0L);
    assertThat(NODE.command("EXISTS", "longer", "other", "list")).isEqualTo(3L);
  }

  @Test
  void concurrentlyWrittenStampIsNeverDeleted() throws Exception {
    String fresh = Long.toString(Instant.now().getEpochSecond() + 30);
    try (StampScan scan = open();
        RawRedis raw = RawRedis.connect(NODE.host(), NODE.port())) {
      for (int round = 0; round < 1_000; round++) {
        NODE.command("SET", "lock.a", PAST);
        List<FoundStamp> seen = scan.run("lock.a", FAST, keys -> {}).stamps();
        CompletableFuture<Void> taken =
            CompletableFuture.runAsync(() -> raw.call("SET", "lock.a", fresh));
        scan.deleteUnchanged(seen, FAST);
        taken.get(10, TimeUnit.SECONDS);

        assertThat(NODE.command("GET", "lock.a")).as("round %d", round).isEqualTo(fresh);
      }
    }
  }

  @Test
  void aServerThatIsNotThereIsAnOutageThatNamesIt() {
    try (TestNodes other = TestNodes.start(1)) {
      URI uri = URI.create(other.node(0).uri().replace("redis://", "redis://:geheim@"));
      other.node(0).kill();

      assertThatThrownBy(() -> StampScan.open(uri))
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining(other.node(0).address())
          .hasMessageNotContaining("geheim");
    }
  }

  @Test
  void serverThatStopsDuringTheScanIsAnOutage() throws Exception {
    try (TestNodes other = TestNodes.start(1);
        StampScan scan = StampScan.open(URI.create(other.node(0).uri()))) {
      other.node(0).fill("key:", 5_000);

      assertThatThrownBy(() -> scan.run("*", 100_000, keys -> other.node(0).kill()))
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining(other.node(0).address());
    }
  }

  @Test
  void wrongPasswordOrMissingRightIsAConfigurationError() throws Exception {
    assertThatThrownBy(() -> StampScan.open(withUser("redis://nobody:geheim@")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(NODE.address())
        .hasMessageContaining("WRONGPASS")
        .hasMessageNotContaining("geheim");

    NODE.command("ACL", "SETUSER", "scanner", "on", ">geheim", "~*", "+scan", "+time", "+info");
    NODE.command("SET", "lock.a", PAST);
    try (StampScan scan = StampScan.open(withUser("redis://scanner:geheim@"))) {
      assertThatThrownBy(() -> scan.run("*", FAST, keys -> {}))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("NOPERM")
          .hasMessageContaining("'type'");
    }
    NODE.command("ACL", "SETUSER", "scanner", "+type", "+getrange", "+pttl");
    try (StampScan scan = StampScan.open(withUser("redis://scanner:geheim@"))) {
      assertThat(scan.run("*", FAST, keys -> {}).stamps()).hasSize(1);
    }
  }

  private static URI withUser(String start) {
    return URI.create(NODE.uri().replace("redis://", start));
  }

  private static StampScan open() {
    return StampScan.open(URI.create(NODE.uri()));
  }

  private static List<FoundStamp> scan(String pattern) throws InterruptedException {
    return run(pattern, FAST).stamps();
  }

  private static StampScan.Result run(String pattern, int rate) throws InterruptedException {
    try (StampScan scan = open()) {
      return scan.run(pattern, rate, keys -> {});
    }
  }

  private static List<FoundStamp> delete(List<FoundStamp> stamps) throws InterruptedException {
    try (StampScan scan = open()) {
      return scan.deleteUnchanged(stamps, FAST);
    }
  }

  private static Map<String, FoundStamp> byName(List<FoundStamp> stamps) {
    return stamps.stream().collect(Collectors.toMap(FoundStamp::name, Function.identity()));
  }

  private static long bytesSent() {
    Matcher bytes = BYTES_SENT.matcher(String.valueOf(NODE.command("INFO", "stats")));
    assertThat(bytes.find()).isTrue();
    return Long.parseLong(bytes.group(1));
  }

  private static long millisSince(long begun) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
  }
}
