/** Redlock with Lettuce. */
module dev.holdfast.redlock.lettuce {
  requires transitive dev.holdfast.redlock.core;
  requires transitive lettuce.core;
  requires io.netty.buffer;
  requires io.netty.common;
  requires io.netty.resolver.dns; // for Lettuce, which has no descriptor that says so
  requires io.netty.transport;
  requires static org.jspecify;

  exports dev.holdfast.redlock.lettuce;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.redlock.lettuce.LettuceProvider;
}
