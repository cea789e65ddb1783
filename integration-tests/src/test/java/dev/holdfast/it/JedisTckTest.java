package dev.holdfast.it;

import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.jedis.JedisRedlock;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import java.net.URI;

@RunsFor(Backend.JEDIS)
class JedisTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = JedisTckTest::open;
    return driver.environment(Backend.JEDIS);
  }

  static LockManager open(LockUrl url, RedlockOptions options) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    RedisNodeUri.all(url).forEach(node -> builder.node(URI.create(node.text())));
    return builder.open();
  }
}
