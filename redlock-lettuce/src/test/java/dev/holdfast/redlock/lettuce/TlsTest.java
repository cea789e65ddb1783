package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsContract;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import org.junit.jupiter.api.Test;

class TlsTest extends TlsContract {
  @Test
  void privateAuthorityTrustedByTheGivenClientIsAccepted() throws Exception {
    try (RedisClient yours = yours();
        LockManager locks =
            LettuceRedlock.builder().client(yours, uri("localhost")).options(PATIENT).open()) {
      assertThatItServes(locks);
    }
  }

  @Test
  void givenClientRefusesACertificateForAnotherHost() {
    try (RedisClient yours = yours()) {
      assertThatThrownBy(() -> LettuceRedlock.builder().client(yours, uri("127.0.0.1")).open())
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(WRONG_NAME);
    }
  }

  private RedisURI uri(String host) {
    return RedisURI.create("rediss://" + host + ":" + server.port());
  }

  private RedisClient yours() {
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
}
