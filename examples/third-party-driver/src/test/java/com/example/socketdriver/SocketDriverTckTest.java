package com.example.socketdriver;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.redis.RedisTckEnvironment;

class SocketDriverTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return RedisTckEnvironment.of("redlock:socket:");
  }
}
