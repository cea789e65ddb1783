package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss://}, on a server whose certificate is for localhost alone. */
class SetnxTlsTest {

  /** Options with time for handshakes on busy machines. */
  private static final String PATIENT = "?unit=ms&quorumTimeout=5s&connectTimeout=10s";

  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir static Path folder;
  @AutoClose private static TlsServer server;

  @BeforeAll
  static void start() throws Exception {
    server = TlsServer.start(folder);
    server.addUser("app", "s3cret");
  }

  @AfterEach
  void trustOthersAgain() {
    TlsServer.trustOthersAgain();
  }

  @Test
  void locksOverTlsWithUserPasswordAndDatabase() throws InterruptedException {
    server.trust();
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
    server.trust();

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
