package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What users get wrong, from end to end: the message shows it, and what is right. */
@ForEachDriver
class BadInputTest {
  private static final String SECRET = "hunter2";

  private final Backend backend;
  private final Cluster cluster;

  BadInputTest(Backend backend) {
    this.backend = backend;
    cluster = Cluster.of(backend, 3);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redlock:redsi://h | redsi | redis://",
        "redlock:redis://h?nodeTimout=50ms | nodeTimout | nodeTimeout",
        "redlock:redis://h,redis://h:6379 | h:6379 | list each server once",
        "redlock:redis://h?nodeTimeout=50 | 50 | 50ms",
        "redlock:redis://h?nodeTimeout=50lightyears | lightyears | ms",
        "redlock:redis://[::1:6379 | [::1:6379 | ]",
        "redlock:redis://h?nodeTimeout=0ms | nodeTimeout | more than zero",
        "redlock:redis://h?connect=sometimes | sometimes | connect=lazy",
        "redlock:redis://h?drift=150% | 150% | 0% to 100%",
        "redluck:redis://h | redluck | redlock",
      })
  @Rule({"ERR-4", "DISC-4"})
  void aWrongUrlIsShownWithWhatIsRight(String url, String offending, String right) {
    String ofBackend = url.replace("redlock:", backend.url(List.of()));

    assertThatThrownBy(() -> LockManager.open(ofBackend))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(offending)
        .hasMessageContaining(right);
  }

  @Test
  @Rule({"ERR-4", "VAL-6"})
  void aWrongRequestIsShownWithWhatIsRightAndSendsNothing() {
    LockManager locks = cluster.open("nodeTimeout=100ms", "maxTtl=45s");
    cluster.nodes().forEach(TestNode::resetCommandCounts);

    assertRefused(() -> locks.tryAcquire("", Cluster.TTL), "name", "empty");
    assertRefused(() -> locks.tryAcquire("n".repeat(1025), Cluster.TTL), "nnn", "1025", "1024");
    assertRefused(() -> locks.tryAcquire("n", Duration.ZERO), "ttl", "more than zero");
    assertRefused(() -> locks.tryAcquire("n", Duration.ofSeconds(-1)), "PT-1S", "more than zero");
    assertRefused(() -> locks.tryAcquire("n", Duration.ofMillis(103)), "103 ms", "ask for more");
    assertRefused(() -> locks.tryAcquire("n", Duration.ofSeconds(46)), "46s", "maxTtl, 45s");
    assertRefused(() -> locks.tryAcquire("holdfast:n", Cluster.TTL), "holdfast:n", "keyPrefix");
    LockRequest request = LockRequest.of("n", Cluster.TTL);
    assertRefused(() -> request.keepAliveUpTo(Duration.ofSeconds(1)), "PT1S", "at least the ttl");
    assertRefused(() -> request.holdAtLeast(Duration.ofMinutes(1)), "PT1M", "at most the ttl");
    assertRefused(() -> request.waitAtMost(Duration.ofSeconds(-1)), "PT-1S", "zero or more");
    assertRefused(() -> request.owner(""), "owner", "empty");

    assertThat(cluster.nodes())
        .allSatisfy(
            node -> assertThat(node.commandCounts()).doesNotContainKeys("set", "eval", "evalsha"));
  }

  @Test
  @Rule({"ACQ-7", "VAL-6"})
  void whatIsJustRightIsTaken() throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=100ms", "maxTtl=45s");

    assertThat(locks.tryAcquire("n".repeat(1024), Duration.ofSeconds(45))).isPresent();
    assertThat(locks.tryAcquire("\u0000\r\n\t*{}\"\\ ☃", Cluster.TTL)).isPresent();
    assertThat(locks.tryAcquire("short", Duration.ofMillis(110))).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "app"})
  @Rule("ERR-3")
  void aPasswordIsNeverShown(String user) {
    cluster.node(0).command("CONFIG", "SET", "requirepass", "changed");
    cluster.node(1).kill();
    List<String> uris =
        cluster.nodes().stream()
            .map(node -> "redis://" + user + ":" + SECRET + "@" + node.address())
            .toList();

    try (Logs logs = Logs.kept()) {
      assertHidden(() -> cluster.openAt(uris), LockException.class);
      LockManager lazy = cluster.openAt(uris, "connect=lazy");
      assertHidden(() -> lazy.tryAcquire("n", Cluster.TTL), LockException.class);
      assertHidden(() -> cluster.openAt(uris, "nodeTimout=1s"), LockConfigurationException.class);
      assertHidden(
          () -> LockManager.open(backend.url(uris).replace("@", "@[")),
          LockConfigurationException.class);

      assertThat(lazy.toString()).doesNotContain(SECRET);
      assertThat(logs.lines()).isNotEmpty().noneMatch(line -> line.contains(SECRET));
    }
  }

  private interface Call {
    Object make() throws InterruptedException;
  }

  private static void assertRefused(Call call, String... parts) {
    assertThatThrownBy(call::make)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll(parts);
  }

  private static void assertHidden(Call call, Class<? extends LockException> type) {
    assertThatThrownBy(call::make)
        .isInstanceOf(type)
        .satisfies(
            e -> {
              StringWriter trace = new StringWriter();
              e.printStackTrace(new PrintWriter(trace));
              assertThat(trace.toString()).doesNotContain(SECRET);
            });
  }
}
