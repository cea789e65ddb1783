package dev.holdfast.it;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;

@RunsFor(Backend.JEDIS_WITHOUT_SCRIPTS)
class JedisWithoutScriptsTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = JedisTckTest::open;
    return driver.environment(Backend.JEDIS_WITHOUT_SCRIPTS);
  }
}
