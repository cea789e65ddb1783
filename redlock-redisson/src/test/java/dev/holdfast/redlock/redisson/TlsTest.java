package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.TlsContract;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

class TlsTest extends TlsContract {
  @Test
  void privateAuthorityTrustedByTheGivenClientIsAccepted() throws Exception {
    RedissonClient yours = yours("localhost");
    try (LockManager locks = RedissonRedlock.builder().client(yours).options(PATIENT).open()) {
      assertThatItServes(locks);
    } finally {
      YourClients.shutdown(yours);
    }
  }

  @Test
  void givenClientRefusesACertificateForAnotherHost() throws Exception {
    RedissonClient yours = yours("127.0.0.1");
    try {
      assertThatThrownBy(() -> RedissonRedlock.builder().client(yours).open())
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(WRONG_NAME);
    } finally {
      YourClients.shutdown(yours);
    }
  }

  private RedissonClient yours(String host) throws Exception {
    var trusted = server.trustStore().toUri().toURL();
    return YourClients.lazy(
        "rediss://" + host + ":" + server.port(), config -> config.setSslTruststore(trusted));
  }
}
