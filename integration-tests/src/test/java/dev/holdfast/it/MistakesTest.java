package dev.holdfast.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.drivertests.TlsServer;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes of users on real servers: one line says what it is, and what to write. */
class MistakesTest {
  private static final String SETNX = "setnx:";
  private static final String PLAIN = "fencing=false&restartGuard=off";
  private static final int SLOTS = 16_384;

  @TempDir static Path folder;
  private static @Nullable TestNodes plain;
  private static @Nullable TestNodes cluster;
  private static @Nullable TlsServer tls;
  private static @Nullable Sentinel sentinel;

  /**
   * A mistake.
   *
   * @param url without its scheme. The words in braces are addresses of servers
   * @param request asks for a lock, or null if opening fails
   * @param setnx whether the old lock says the same
   */
  private record Mistake(
      String what,
      String url,
      @Nullable LockRequest request,
      Class<? extends Exception> thrown,
      boolean setnx,
      List<String> says) {
    Mistake(
        String what,
        String url,
        @Nullable LockRequest request,
        Class<? extends Exception> thrown,
        boolean setnx,
        String... says) {
      this(what, url, request, thrown, setnx, List.of(says));
    }

    @Override
    public String toString() {
      return what;
    }
  }

  private static List<Mistake> mistakes() {
    Class<LockConfigurationException> wrong = LockConfigurationException.class;
    Class<LockOutageException> outage = LockOutageException.class;
    Duration hours = Duration.ofHours(2);
    return List.of(
        new Mistake(
            "a node of a Redis Cluster",
            "redis://{cluster}",
            null,
            wrong,
            false,
            "it is a node of a Redis Cluster",
            "give independent masters with cluster-enabled no"),
        new Mistake(
            "a node of a Redis Cluster, for a user who may not ask: MOVED",
            "redis://blind:secret@{other}?" + PLAIN,
            LockRequest.of("x", Duration.ofSeconds(30)),
            wrong,
            false,
            "MOVED",
            "it is a node of a Redis Cluster"),
        new Mistake(
            "a node of a Redis Cluster, for a user who may not ask: CROSSSLOT",
            "redis://blind:secret@{cluster}?restartGuard=off",
            LockRequest.of("x", Duration.ofSeconds(30)),
            wrong,
            false,
            "CROSSSLOT",
            "it is a node of a Redis Cluster"),
        new Mistake(
            "a Sentinel",
            "redis://{sentinel}",
            null,
            wrong,
            true,
            "it is a Sentinel, which holds no locks",
            "redis://host:6379"),
        new Mistake(
            "a Sentinel, without scripts",
            "redis://{sentinel}?" + PLAIN,
            null,
            wrong,
            false,
            "it is a Sentinel"),
        new Mistake(
            "a database of a Sentinel",
            "redis://{sentinel}/1",
            null,
            wrong,
            true,
            "it is a Sentinel"),
        new Mistake(
            "Sentinel's scheme",
            "redis-sentinel://{sentinel}",
            null,
            wrong,
            true,
            "write redis://host:6379 for each master itself"),
        new Mistake(
            "TLS to a port without",
            "rediss://{plain}?connectTimeout=300ms",
            null,
            outage,
            true,
            "not connected within 300 ms",
            "if this port speaks no TLS, write redis:// for rediss://"),
        new Mistake(
            "no TLS to a port with",
            "redis://{tls}",
            null,
            outage,
            true,
            "if this port speaks TLS, write rediss:// for redis://"),
        new Mistake(
            "an authority that is not trusted",
            "rediss://{tls}?connectTimeout=10s",
            null,
            wrong,
            true,
            "this JVM does not trust the authority of its certificate",
            "-Djavax.net.ssl.trustStore="),
        new Mistake(
            "a ttl above maxTtl",
            "redis://{plain}",
            LockRequest.of("x", hours),
            wrong,
            false,
            "the ttl, 2h, is above maxTtl, 60s",
            "ask for 30s and keepAliveUpTo(2h)"),
        new Mistake(
            "decades of maxTtl",
            "redis://{plain}?maxTtl=109500d",
            null,
            wrong,
            true,
            "maxTtl",
            "365 days"),
        new Mistake(
            "an IPv6 address without brackets",
            "redis://::1:6379",
            null,
            wrong,
            true,
            "write redis://[::1]:6379"),
        new Mistake(
            "a space between nodes",
            "redis://{plain}, redis://{cluster}",
            null,
            wrong,
            true,
            "without spaces"),
        new Mistake(
            "a semicolon between nodes",
            "redis://{plain};redis://{cluster}",
            null,
            wrong,
            true,
            "nodes are parted by commas alone"),
        new Mistake(
            "a password as an option",
            "redis://{plain}?password=a?b",
            null,
            wrong,
            true,
            "there is no option 'password'",
            "?password=***\n"),
        new Mistake(
            "another maxTtl than the node's other clients gave",
            "redis://{plain}/2?restartGuard=on&maxTtl=2m",
            LockRequest.of("x", Duration.ofSeconds(30)),
            wrong,
            false,
            "its clients gave maxTtl=60000ms",
            "this client gave maxTtl=120000ms",
            "docs/errors.md says under 'its clients gave'"));
  }

  static Stream<Arguments> mistakesOfAll() {
    List<Arguments> all = new ArrayList<>();
    for (Mistake mistake : mistakes()) {
      Backend.all().stream()
          .filter(Backend::runsScripts)
          .forEach(backend -> all.add(Arguments.of(mistake, backend.urlPrefix())));
      if (mistake.setnx()) {
        all.add(Arguments.of(mistake, SETNX));
      }
    }
    return all.stream();
  }

  @BeforeAll
  static void start() throws Exception {
    assumeThat(System.getProperty(NodeSource.PROPERTY, ""))
        .as("a container's executable, and its keys, are not on this machine")
        .doesNotStartWith("docker");
    plain = TestNodes.start(3);
    cluster = TestNodes.builder().count(2).config("cluster-enabled yes").start();
    TestNode all = cluster.node(0);
    TestNode none = cluster.node(1);
    all.command(
        Stream.concat(
                Stream.of("CLUSTER", "ADDSLOTS"),
                IntStream.range(0, SLOTS).mapToObj(String::valueOf))
            .toArray(String[]::new));
    none.command("CLUSTER", "MEET", all.host(), Integer.toString(all.port()));
    for (TestNode node : cluster.all()) {
      node.command("ACL", "SETUSER", "blind", "on", ">secret", "~*", "&*", "+@all", "-info");
      Eventually.soon()
          .until(
              () -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
    }
    takeWithTheUsualTerms(
        "redlock:jedis:redis://" + plain.node(0).address() + "/2?restartGuard=on");
    tls = TlsServer.start(folder);
    sentinel = Sentinel.over(plain.node(0), folder);
  }

  private static void takeWithTheUsualTerms(String url) throws InterruptedException {
    try (LockManager locks = LockManager.open(url)) {
      locks.unwrap(RestartGuardAdmin.class).orElseThrow().init();
      locks.acquire(LockRequest.of("x", Duration.ofSeconds(30))).close();
    }
  }

  @AfterAll
  static void stop() {
    if (sentinel != null) {
      sentinel.close();
    }
    if (tls != null) {
      tls.close();
    }
    if (cluster != null) {
      cluster.close();
    }
    if (plain != null) {
      plain.close();
    }
  }

  @ParameterizedTest(name = "[{index}] {1} {0}")
  @MethodSource("mistakesOfAll")
  @Rule({"ERR-1", "ERR-4"})
  void aMistakeIsReportedWithItsCorrection(Mistake mistake, String scheme) {
    assertThatThrownBy(() -> use(scheme + located(mistake.url()), mistake.request()))
        .isInstanceOf(mistake.thrown())
        .hasMessageContainingAll(mistake.says().toArray(String[]::new));
  }

  private static void use(String url, @Nullable LockRequest request) throws InterruptedException {
    try (LockManager locks = LockManager.open(url)) {
      if (request != null) {
        locks.acquire(request).close();
      }
    }
  }

  private static String located(String url) {
    return url.replace("{plain}", requireNonNull(plain).node(0).address())
        .replace("{cluster}", requireNonNull(cluster).node(0).address())
        .replace("{other}", requireNonNull(cluster).node(1).address())
        .replace("{tls}", "localhost:" + requireNonNull(tls).port())
        .replace("{sentinel}", requireNonNull(sentinel).address());
  }
}
