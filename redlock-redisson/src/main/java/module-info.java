/** Redlock with Redisson. */
module dev.holdfast.redlock.redisson {
  requires transitive dev.holdfast.redlock.core;
  requires transitive redisson;
  requires io.netty.buffer;
  requires io.netty.common;
  requires io.netty.resolver;
  requires io.netty.resolver.dns;
  requires io.netty.transport;
  requires org.slf4j; // for Redisson, which has no descriptor that says so
  requires static org.jspecify;

  exports dev.holdfast.redlock.redisson;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.redlock.redisson.RedissonProvider;
}
