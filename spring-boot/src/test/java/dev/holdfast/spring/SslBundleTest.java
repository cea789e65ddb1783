package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsServer;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** SSL bundles, on a real server with TLS whose authority is trusted by no JVM. */
class SslBundleTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String[] PATIENT = {
    "holdfast.options.quorumTimeout=5s", "holdfast.options.connectTimeout=10s"
  };

  @TempDir static Path folder;
  private static TlsServer server;

  @BeforeAll
  static void start() throws Exception {
    server = TlsServer.start(folder);
    char[] password = "changeit".toCharArray();
    KeyStore keys = KeyStore.getInstance(folder.resolve("keys.p12").toFile(), password);
    keys.deleteEntry("server"); // its certificate there is not the one that the authority signed
    try (OutputStream out = Files.newOutputStream(folder.resolve("client.p12"))) {
      keys.store(out, password);
    }
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static ApplicationContextRunner contexts() {
    return Contexts.of(
            SslAutoConfiguration.class,
            DataRedisAutoConfiguration.class,
            HoldfastAutoConfiguration.class)
        .withPropertyValues(PATIENT)
        .withPropertyValues(
            "spring.ssl.bundle.pem.own.truststore.certificate=file:" + folder.resolve("ca.pem"),
            "spring.ssl.bundle.jks.keys.truststore.location=file:" + server.trustStore(),
            "spring.ssl.bundle.jks.keys.truststore.password=changeit",
            "spring.ssl.bundle.jks.keys.keystore.location=file:" + folder.resolve("client.p12"),
            "spring.ssl.bundle.jks.keys.keystore.type=PKCS12",
            "spring.ssl.bundle.jks.keys.keystore.password=changeit");
  }

  private static ApplicationContextRunner withNode() {
    return contexts()
        .withPropertyValues(
            "holdfast.nodes[0].host=localhost", "holdfast.nodes[0].port=" + server.port());
  }

  private static void assertThatItServes(AssertableApplicationContext context, String key) {
    assertThat(context).hasNotFailed();
    try (Lease lease = context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
      assertThat(server.node().command("GET", key)).isEqualTo(lease.token());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"own", "keys"})
  void aNodeIsReachedByItsBundle(String bundle) {
    withNode()
        .withPropertyValues("holdfast.nodes[0].ssl.bundle=" + bundle)
        .run(context -> assertThatItServes(context, "a"));
  }

  @Test
  void aServerThatAsksForACertificateGetsThatOfTheBundle() {
    server.requireCertificates(true);
    try {
      withNode()
          .withPropertyValues("holdfast.nodes[0].ssl.bundle=keys")
          .run(context -> assertThatItServes(context, "a"));
      withNode()
          .withPropertyValues("holdfast.nodes[0].ssl.bundle=own")
          .run(context -> assertThat(context).hasFailed());
    } finally {
      server.requireCertificates(false);
    }
  }

  @Test
  void withoutABundleTheAuthoritiesOfTheJvmCount() {
    withNode()
        .withPropertyValues("holdfast.nodes[0].ssl.enabled=true")
        .run(
            context ->
                assertThat(Failures.analyze(context).getDescription())
                    .contains("unable to find valid certification path"));
  }

  @Test
  void aBundleThatIsSwitchedOffIsNotUsed() {
    contexts()
        .withPropertyValues(
            "holdfast.nodes[0].host=" + server.node().host(),
            "holdfast.nodes[0].port=" + server.node().port(),
            "holdfast.nodes[0].ssl.enabled=false",
            "holdfast.nodes[0].ssl.bundle=own")
        .run(context -> assertThatItServes(context, "a"));
  }

  @Test
  void theBundleOfSpringDataRedisIsUsedForItsServer() {
    contexts()
        .withPropertyValues(
            "spring.data.redis.port=" + server.port(), "spring.data.redis.ssl.bundle=own")
        .run(context -> assertThatItServes(context, "lock:a"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "holdfast.nodes[1].host=h2 holdfast.nodes[1].ssl.bundle=keys | different SSL bundles",
        "holdfast.nodes[1].host=h2 holdfast.nodes[1].ssl.enabled=true | different SSL bundles",
        "spring.ssl.bundle.pem.own.options.ciphers=a | sets ciphers or protocols",
        "spring.ssl.bundle.pem.own.options.enabled-protocols=TLSv1.3 | sets ciphers or protocols",
        "spring.ssl.bundle.pem.own.protocol=TLSv1.2 | sets ciphers or protocols",
      })
  void aBundleThatCannotBeAppliedIsRefused(String properties, String message) {
    withNode()
        .withPropertyValues("holdfast.nodes[0].ssl.bundle=own")
        .withPropertyValues(properties.split(" ", -1))
        .run(context -> assertThat(Failures.analyze(context).getDescription()).contains(message));
  }
}
