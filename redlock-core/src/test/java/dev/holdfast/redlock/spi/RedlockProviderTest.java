package dev.holdfast.redlock.spi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testsupport.Rule;
import java.util.List;
import java.util.Map;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RedlockProviderTest {
  /** A driver that knows nothing of trust managers. */
  private static final class Plain extends RedlockProvider {
    Plain() {
      super("plain");
    }

    @Override
    protected RedisNodes nodes(
        List<RedisNodeUri> uris, RedlockOptions options, OpenSettings settings) {
      throw new IllegalStateException("nodes were made");
    }
  }

  @Test
  @Rule("DISC-5")
  @DisplayName("a driver that does not apply trust managers refuses them")
  void aDriverThatDoesNotApplyTrustManagersRefusesThem() throws Exception {
    LockUrl url = LockUrl.parse("redlock:rediss://h1", Map.of());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());

    assertThatThrownBy(() -> new Plain().open(url, OpenSettings.none().trustManagers(trust)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("the backend 'plain' takes no trust or key managers");
    assertThatThrownBy(() -> new Plain().open(url, OpenSettings.none()))
        .hasMessage("nodes were made");
  }
}
