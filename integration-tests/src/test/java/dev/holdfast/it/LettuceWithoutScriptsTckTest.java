package dev.holdfast.it;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;

@RunsFor(Backend.LETTUCE_WITHOUT_SCRIPTS)
class LettuceWithoutScriptsTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    ProvedDriver driver = LettuceTckTest::open;
    return driver.environment(Backend.LETTUCE_WITHOUT_SCRIPTS);
  }
}
