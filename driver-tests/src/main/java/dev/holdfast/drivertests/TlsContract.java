package dev.holdfast.drivertests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss://}, on a server whose certificate is for localhost alone. */
public abstract class TlsContract {
  /** The JDK's message for a host that the certificate does not name. */
  protected static final String WRONG_NAME = "No subject alternative names";

  /** Options with time for handshakes on busy machines. */
  protected static final RedlockOptions PATIENT =
      RedlockOptions.defaults()
          .quorumTimeout(Duration.ofSeconds(5))
          .connectTimeout(Duration.ofSeconds(10));

  private static final String UNKNOWN = "unable to find valid certification path";
  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir static Path folder;
  @AutoClose private static TlsServer started;

  /** A server whose authority only a client that is configured for it trusts. */
  protected final TlsServer server;

  /** For each test. */
  protected TlsContract() {
    server = started;
  }

  @BeforeAll
  static void start() throws Exception {
    started = TlsServer.start(folder);
    started.addUser("app", "s3cret");
  }

  @AfterEach
  void trustOthersAgain() {
    TlsServer.trustOthersAgain();
  }

  @Test
  @Rule("OPEN-7")
  @DisplayName("rediss:// works with an authority that the JVM trusts")
  void aPrivateAuthorityThatTheJvmTrusts() throws InterruptedException {
    server.trust();
    try (LockManager locks = LockManager.open(url("localhost") + "?quorumTimeout=5s")) {
      assertThatItServes(locks);
    }
  }

  @Test
  @Rule("OPEN-7")
  @DisplayName("user, password and database apply to a connection with TLS")
  void userPasswordAndDatabaseOverTls() throws InterruptedException {
    server.trust();
    try (LockManager locks = LockManager.open(url("app:s3cret@localhost") + "/3");
        Lease lease = locks.acquire("secret", TTL)) {
      assertThat(lease.isHeld()).isTrue();
      assertThat(server.node().command("EXISTS", "secret")).isEqualTo(0L);
      assertThat(String.valueOf(server.node().command("CLIENT", "LIST")))
          .containsPattern(" name=holdfast .* db=3 .* user=app ");
    }
  }

  @Test
  @Rule("OPEN-7")
  @DisplayName("a certificate for another host is refused")
  void certificateForAnotherHostIsRefused() {
    server.trust();
    assertThatItIsRefused(url("127.0.0.1"), WRONG_NAME);
  }

  @Test
  @Rule("OPEN-7")
  @DisplayName("a certificate of an unknown authority is refused")
  void certificateOfAnUnknownAuthorityIsRefused() {
    assertThatItIsRefused(url("localhost"), UNKNOWN);
  }

  @Test
  @Rule("DISC-5")
  @DisplayName("rediss:// works with an authority that the builder is given")
  void aPrivateAuthorityThatTheBuilderIsGiven() throws Exception {
    try (LockManager locks =
        LockManager.builder(url("localhost") + "?quorumTimeout=5s&connectTimeout=10s")
            .trustManagers(server.trustManagers())
            .open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  @Rule("OPEN-7")
  @DisplayName("with trust managers, too, a certificate for another host is refused")
  void certificateForAnotherHostIsRefusedWithTrustManagers() throws Exception {
    ManagerBuilder builder =
        LockManager.builder(url("127.0.0.1")).trustManagers(server.trustManagers());
    assertThatThrownBy(builder::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(WRONG_NAME);
  }

  @Test
  @Rule("DISC-5")
  @DisplayName("the builder's key managers show a certificate to the server")
  void aCertificateOfTheClient() throws Exception {
    ManagerBuilder builder =
        LockManager.builder(url("localhost") + "?quorumTimeout=5s&connectTimeout=10s")
            .trustManagers(server.trustManagers());
    server.requireCertificates(true);
    try {
      assertThatThrownBy(builder::open).isInstanceOf(LockException.class);
      try (LockManager locks = builder.keyManagers(server.keyManagers()).open()) {
        assertThatItServes(locks);
      }
    } finally {
      server.requireCertificates(false);
    }
  }

  /** To several threads at once, too. */
  protected final void assertThatItServes(LockManager locks) throws InterruptedException {
    try (Lease lease = locks.acquire("secret", TTL)) {
      assertThat(server.node().command("GET", "secret")).isEqualTo(lease.token());
    }
    CompletableFuture<?>[] all =
        IntStream.range(0, 8)
            .mapToObj(i -> CompletableFuture.runAsync(() -> use(locks, "lock-" + i)))
            .toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(all).join();
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

  private String url(String host) {
    return "redlock:rediss://" + host + ":" + server.port();
  }

  /** And nothing is logged but the one warning of ours. */
  private static void assertThatItIsRefused(String url, String reason) {
    try (Logs logs = new Logs()) {
      assertThatThrownBy(() -> LockManager.open(url))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(reason);
      assertThat(logs.messages()).hasSize(1);
      assertThat(logs.messages().get(0)).startsWith("WARNING node ").contains(reason);
    }
  }
}
