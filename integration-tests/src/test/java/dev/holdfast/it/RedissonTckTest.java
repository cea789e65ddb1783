package dev.holdfast.it;

import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.redisson.RedissonRedlock;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;

@RunsFor(Backend.REDISSON)
class RedissonTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = RedissonTckTest::open;
    return driver.environment(Backend.REDISSON);
  }

  static LockManager open(LockUrl url, RedlockOptions options) {
    RedissonRedlock.Builder builder = RedissonRedlock.builder().options(options);
    RedisNodeUri.all(url).forEach(node -> builder.node(node.text()));
    return builder.open();
  }
}
