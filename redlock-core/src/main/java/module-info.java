/**
 * The Redlock algorithm, once, over {@link dev.holdfast.redlock.spi.RedisNodes}, the port that a
 * driver implements.
 */
module dev.holdfast.redlock.core {
  requires transitive dev.holdfast.core;
  requires transitive dev.holdfast.redis;
  requires static org.jspecify;

  exports dev.holdfast.redlock;
  exports dev.holdfast.redlock.spi;
}
