/** The old lock with time stamps, and the migration away from it. */
module dev.holdfast.legacy {
  requires transitive dev.holdfast.core;
  requires dev.holdfast.redis;
  requires redis.clients.jedis;
  requires static org.jspecify;

  exports dev.holdfast.legacy.migrate;
  exports dev.holdfast.legacy.setnx;

  uses dev.holdfast.spi.LockProvider;

  provides dev.holdfast.spi.LockProvider with
      dev.holdfast.legacy.migrate.MigrationProvider,
      dev.holdfast.legacy.setnx.SetnxProvider;
}
