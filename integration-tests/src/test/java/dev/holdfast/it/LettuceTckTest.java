package dev.holdfast.it;

import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.lettuce.LettuceRedlock;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import io.lettuce.core.RedisURI;

@RunsFor(Backend.LETTUCE)
class LettuceTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = LettuceTckTest::open;
    return driver.environment(Backend.LETTUCE);
  }

  static LockManager open(LockUrl url, RedlockOptions options) {
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(options);
    RedisNodeUri.all(url).forEach(node -> builder.node(RedisURI.create(node.text())));
    return builder.open();
  }
}
