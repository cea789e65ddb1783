package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss://}, on a server whose certificate is for localhost alone. */
class SetnxTlsTest {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";

  /** Options with time for handshakes on busy machines. */
  private static final String PATIENT = "?unit=ms&quorumTimeout=5s&connectTimeout=10s";

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
  void locksOverTlsWithUserPasswordAndDatabase() throws InterruptedException {
    System.setProperty(TRUST_STORE, server.trustStore().toString());
    try (LockManager locks = LockManager.open(url("app:s3cret@localhost", "/3"))) {
      Lease lease = locks.acquire("secret", TTL);
      assertThat(server.node().command("EXISTS", "lock.secret")).isEqualTo(0L);
      assertThat(String.valueOf(server.node().command("CLIENT", "LIST")))
          .containsPattern(" name=holdfast .* db=3 .* cmd=setnx user=app ");
      assertThat(locks.tryAcquire("secret", TTL)).isEmpty();

      assertThat(lease.release()).isTrue();
      assertThat(locks.tryAcquire("secret", TTL)).isPresent();
    }
  }

  @Test
  void hostNameThatDoesNotMatchTheCertificateIsRefused() {
    System.setProperty(TRUST_STORE, server.trustStore().toString());

    assertThatItIsRefused("127.0.0.1", "No subject alternative names");
  }

  @Test
  void untrustedAuthorityIsRefused() {
    assertThatItIsRefused("localhost", "unable to find valid certification path");
  }

  private static void assertThatItIsRefused(String host, String reason) {
    assertThatThrownBy(() -> LockManager.open(url(host, "")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(reason);
  }

  private static String url(String host, String database) {
    return "setnx:rediss://" + host + ":" + server.port() + database + PATIENT;
  }
}
