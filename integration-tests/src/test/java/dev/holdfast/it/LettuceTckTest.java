package dev.holdfast.it;

import dev.holdfast.LockManager;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.lettuce.LettuceRedlock;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;

@RunsFor(Backend.LETTUCE)
class LettuceTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = LettuceTckTest::open;
    return driver.environment(Backend.LETTUCE);
  }

  static LockManager open(LockUrl url, RedlockOptions options) {
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(options);
    RedisNodeUri.all(url).forEach(node -> builder.node(address(node)));
    return builder.open();
  }

  /** Sets the login, because a user without a password is a password to Lettuce's parser. */
  private static RedisURI address(RedisNodeUri node) {
    RedisURI uri = RedisURI.create(node.text());
    if (node.user() != null && node.password() != null) {
      uri.setCredentialsProvider(
          new StaticCredentialsProvider(node.user(), node.password().toCharArray()));
    }
    return uri;
  }
}
