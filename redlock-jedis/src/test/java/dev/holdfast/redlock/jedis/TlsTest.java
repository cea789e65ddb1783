package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/** A server that speaks TLS, with a certificate for localhost alone, from an unknown authority. */
class TlsTest {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final String UNKNOWN = "unable to find valid certification path";
  private static final String WRONG_NAME = "No subject alternative names";
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final RedlockOptions PATIENT =
      RedlockOptions.defaults()
          .nodeTimeout(Duration.ofSeconds(1))
          .connectTimeout(Duration.ofSeconds(10));

  @TempDir static Path folder;
  private static Certificate certificate;
  private static TestNodes servers;
  private static TestNode server;
  private static int port;

  @BeforeAll
  static void start() throws Exception {
    certificate = Certificate.forLocalhost(folder);
    servers = TestNodes.start(1);
    server = servers.node(0);
    port = freePort();
    configure("tls-cert-file", certificate.certificateFile().toString());
    configure("tls-key-file", certificate.keyFile().toString());
    configure("tls-auth-clients", "no");
    configure("tls-port", Integer.toString(port));
  }

  private static void configure(String setting, String value) {
    server.command("CONFIG", "SET", setting, value);
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @AfterEach
  void trustOthersAgain() {
    System.clearProperty(TRUST_STORE);
  }

  @Test
  void anAuthorityThatTheJvmTrusts() throws Exception {
    System.setProperty(TRUST_STORE, certificate.trustStore().toString());
    try (LockManager locks = LockManager.open(url("localhost") + "?nodeTimeout=1s")) {
      assertThatItServes(locks);
    }
  }

  @Test
  void anAuthorityThatYourConfigurationTrusts() throws Exception {
    try (LockManager locks =
        JedisRedlock.builder().node(at("localhost"), yours()).options(PATIENT).open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  void anAuthorityThatYourClientTrusts() throws Exception {
    try (RedisClient client = client("localhost");
        LockManager locks =
            JedisRedlock.builder().client(client, at("localhost")).options(PATIENT).open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  void anAuthorityThatNobodyTrustsIsRefused() {
    assertThatThrownBy(() -> LockManager.open(url("localhost")))
        .isInstanceOf(LockBackendException.class)
        .hasMessageContaining(UNKNOWN);
  }

  @Test
  void anotherNameThanTheCertificatesIsRefused() {
    System.setProperty(TRUST_STORE, certificate.trustStore().toString());
    assertThatThrownBy(() -> LockManager.open(url("127.0.0.1")))
        .isInstanceOf(LockBackendException.class)
        .hasMessageContaining(WRONG_NAME);
  }

  @Test
  void anotherNameThanTheCertificatesIsRefusedByYourConfiguration() {
    JedisRedlock.Builder builder =
        JedisRedlock.builder().node(at("127.0.0.1"), yours()).options(PATIENT);
    assertThatThrownBy(builder::open)
        .isInstanceOf(LockBackendException.class)
        .hasMessageContaining(WRONG_NAME);
  }

  @Test
  void anotherNameThanTheCertificatesIsRefusedByYourClient() {
    try (RedisClient client = client("127.0.0.1")) {
      JedisRedlock.Builder builder =
          JedisRedlock.builder().client(client, at("127.0.0.1")).options(PATIENT);
      assertThatThrownBy(builder::open)
          .isInstanceOf(LockBackendException.class)
          .hasMessageContaining(WRONG_NAME);
    }
  }

  /** A reply that has half arrived when a read's time is over is not lost: a millisecond, here. */
  @Test
  void repliesThatComeInPiecesAreRead() throws Exception {
    try (Proxy pieces = new Proxy(server, port, 40)) {
      HostAndPort door = new HostAndPort("localhost", pieces.port());
      try (LockManager locks = JedisRedlock.builder().node(door, yours()).options(PATIENT).open()) {
        assertThatItServes(locks);
      }
    }
  }

  /** By several threads at once, too. */
  private static void assertThatItServes(LockManager locks) throws Exception {
    try (Lease lease = locks.acquire("secret", TTL)) {
      assertThat(server.command("GET", "secret")).isEqualTo(lease.token());
    }
    List<CompletableFuture<Void>> all = new ArrayList<>();
    IntStream.range(0, 8)
        .forEach(i -> all.add(CompletableFuture.runAsync(() -> use(locks, "lock-" + i))));
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
  }

  private static void use(LockManager locks, String name) {
    for (int round = 0; round < 20; round++) {
      try {
        locks.acquire(name, TTL).close();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static String url(String host) {
    return "redlock:rediss://" + host + ":" + port;
  }

  private static HostAndPort at(String host) {
    return new HostAndPort(host, port);
  }

  private static JedisClientConfig yours() {
    return DefaultJedisClientConfig.builder()
        .sslOptions(
            SslOptions.builder()
                .truststore(certificate.trustStore().toFile())
                .trustStoreType("JKS")
                .sslVerifyMode(SslVerifyMode.FULL)
                .build())
        .build();
  }

  private static RedisClient client(String host) {
    return RedisClient.builder().hostAndPort(at(host)).clientConfig(yours()).build();
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
