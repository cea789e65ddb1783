/** The old lock with time stamps, and the migration away from it. */
module dev.holdfast.legacy {
  requires transitive dev.holdfast.core;
  requires transitive redis.clients.jedis;
  requires org.apache.commons.pool2;
  requires static org.jspecify;

}
