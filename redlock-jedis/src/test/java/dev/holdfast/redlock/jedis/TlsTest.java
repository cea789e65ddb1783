package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsContract;
import dev.holdfast.testsupport.FaultProxy;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

class TlsTest extends TlsContract {
  @Test
  void authorityTrustedByTheGivenConfigurationIsAccepted() throws Exception {
    try (LockManager locks =
        JedisRedlock.builder().node(at("localhost"), yours()).options(PATIENT).open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  void authorityTrustedByTheGivenClientIsAccepted() throws Exception {
    try (RedisClient client = client("localhost");
        LockManager locks =
            JedisRedlock.builder().client(client, at("localhost")).options(PATIENT).open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  void givenConfigurationRefusesACertificateForAnotherHost() {
    JedisRedlock.Builder builder =
        JedisRedlock.builder().node(at("127.0.0.1"), yours()).options(PATIENT);
    assertThatThrownBy(builder::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(WRONG_NAME);
  }

  @Test
  void givenClientRefusesACertificateForAnotherHost() {
    try (RedisClient client = client("127.0.0.1")) {
      JedisRedlock.Builder builder =
          JedisRedlock.builder().client(client, at("127.0.0.1")).options(PATIENT);
      assertThatThrownBy(builder::open)
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(WRONG_NAME);
    }
  }

  /** A reply that has half arrived when a read's time is over is not lost: a millisecond, here. */
  @Test
  void repliesThatComeInPiecesAreRead() throws Exception {
    try (FaultProxy pieces = new FaultProxy(server.node().host(), server.port(), 40)) {
      HostAndPort door = new HostAndPort("localhost", pieces.port());
      try (LockManager locks = JedisRedlock.builder().node(door, yours()).options(PATIENT).open()) {
        assertThatItServes(locks);
      }
    }
  }

  private HostAndPort at(String host) {
    return new HostAndPort(host, server.port());
  }

  private JedisClientConfig yours() {
    return DefaultJedisClientConfig.builder()
        .sslOptions(
            SslOptions.builder()
                .truststore(server.trustStore().toFile())
                .trustStoreType("JKS")
                .sslVerifyMode(SslVerifyMode.FULL)
                .build())
        .build();
  }

  private RedisClient client(String host) {
    return RedisClient.builder().hostAndPort(at(host)).clientConfig(yours()).build();
  }
}
