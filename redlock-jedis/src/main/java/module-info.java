/** Redlock with Jedis. */
module dev.holdfast.redlock.jedis {
  requires transitive dev.holdfast.redlock.core;
  requires transitive redis.clients.jedis;
  requires org.apache.commons.pool2;
  requires static org.jspecify;

  exports dev.holdfast.redlock.jedis;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.redlock.jedis.JedisProvider;
}
