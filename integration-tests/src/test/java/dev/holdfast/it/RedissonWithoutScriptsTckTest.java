package dev.holdfast.it;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;

@RunsFor(Backend.REDISSON_WITHOUT_SCRIPTS)
class RedissonWithoutScriptsTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = RedissonTckTest::open;
    return driver.environment(Backend.REDISSON_WITHOUT_SCRIPTS);
  }
}
