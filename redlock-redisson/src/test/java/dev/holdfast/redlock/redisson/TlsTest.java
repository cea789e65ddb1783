package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockManager;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

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
    RedissonClient yours = yours("localhost");
    try (LockManager locks = RedissonRedlock.builder().client(yours).open()) {
      assertThatALockIsGot(locks);
    } finally {
      YourClients.shutdown(yours);
    }
  }

  @Test
  void anotherNameThanTheCertificatesIsRefusedByYourClient() throws Exception {
    RedissonClient yours = yours("127.0.0.1");
    try {
      assertThatThrownBy(() -> RedissonRedlock.builder().client(yours).open())
          .isInstanceOf(LockBackendException.class)
          .hasMessageContaining("No subject alternative names");
    } finally {
      YourClients.shutdown(yours);
    }
  }

  private static String url(String host) {
    return "redlock:rediss://" + host + ":" + server.port();
  }

  private static RedissonClient yours(String host) throws Exception {
    var trusted = server.trustStore().toUri().toURL();
    return YourClients.lazy(
        "rediss://" + host + ":" + server.port(), config -> config.setSslTruststore(trusted));
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
