package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockManager;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss://}, on a server whose certificate is for localhost alone. */
class TlsTest {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir static Path folder;
  private static TlsServer server;

  @BeforeAll
  static void start() throws Exception {
    server = TlsServer.start(folder);
    server.node().command("ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void trustOthersAgain() {
    System.clearProperty(TRUST_STORE);
  }

  @Test
  void aPrivateAuthorityThatTheJvmTrusts() throws InterruptedException {
    System.setProperty(TRUST_STORE, server.trustStore().toString());
    try (LockManager locks = LockManager.open(url("localhost"))) {
      assertThatALockIsGot(locks);
    }
  }

  @Test
  void userPasswordAndDatabaseOverTls() throws InterruptedException {
    System.setProperty(TRUST_STORE, server.trustStore().toString());
    try (LockManager locks = LockManager.open(url("app:s3cret@localhost") + "/3");
        Lease lease = locks.acquire("secret", TTL)) {
      assertThat(lease.isHeld()).isTrue();
      assertThat(server.node().command("EXISTS", "secret")).isEqualTo(0L);
      assertThat(String.valueOf(server.node().command("CLIENT", "LIST")))
          .containsPattern(" name=holdfast .* db=3 .* user=app ");
    }
  }

  @Test
  void anotherNameThanTheCertificatesIsRefused() {
    System.setProperty(TRUST_STORE, server.trustStore().toString());
    assertThatItIsRefused(url("127.0.0.1"), "No subject alternative names");
  }

  @Test
  void anAuthorityThatNobodyTrustsIsRefused() {
    assertThatItIsRefused(url("localhost"), "unable to find valid certification path");
  }

  @Test
  void aPrivateAuthorityThatYourClientTrusts() throws Exception {
    try (RedisClient yours = yours();
        LockManager locks = LettuceRedlock.builder().client(yours, uri("localhost")).open()) {
      assertThatALockIsGot(locks);
    }
  }

  @Test
  void anotherNameThanTheCertificatesIsRefusedByYourClient() {
    try (RedisClient yours = yours()) {
      assertThatThrownBy(() -> LettuceRedlock.builder().client(yours, uri("127.0.0.1")).open())
          .isInstanceOf(LockBackendException.class)
          .hasMessageContaining("No subject alternative names");
    }
  }

  private static String url(String host) {
    return "redlock:rediss://" + host + ":" + server.port();
  }

  private static RedisURI uri(String host) {
    return RedisURI.create("rediss://" + host + ":" + server.port());
  }

  private static RedisClient yours() {
    RedisClient client = RedisClient.create();
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .sslOptions(
                SslOptions.builder()
                    .jdkSslProvider()
                    .truststore(server.trustStore().toFile())
                    .build())
            .build());
    return client;
  }

  private static void assertThatALockIsGot(LockManager locks) throws InterruptedException {
    try (Lease lease = locks.acquire("secret", TTL)) {
      assertThat(server.node().command("GET", "secret")).isEqualTo(lease.token());
    }
  }

  /** And nothing is logged but the one warning of ours. */
  private static void assertThatItIsRefused(String url, String reason) {
    try (Logs logs = new Logs()) {
      assertThatThrownBy(() -> LockManager.open(url))
          .isInstanceOf(LockBackendException.class)
          .hasMessageContaining(reason);
      assertThat(logs.messages()).hasSize(1);
      assertThat(logs.messages().get(0)).startsWith("WARNING node ").contains(reason);
    }
  }
}
