/** The old lock with time stamps, and the migration away from it. */
module dev.holdfast.legacy {
  requires transitive dev.holdfast.core;
  requires dev.holdfast.redis;
  requires redis.clients.jedis;
  requires static org.jspecify;

  exports dev.holdfast.legacy;

  uses dev.holdfast.spi.LockProvider;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.legacy.MigrationProvider,
      dev.holdfast.legacy.SetnxProvider;
}
