package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.AccessContract;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;

class AccessTest extends AccessContract {
  private final HostAndPort address = new HostAndPort(acl.host(), acl.port());

  @Test
  void userAndDatabaseOfTheGivenConfigurationAreUsed() throws InterruptedException {
    try (LockManager locks = JedisRedlock.builder().node(address, yours()).open();
        Lease lease = locks.acquire("yours", TTL)) {
      assertThat(inDatabase(3, "yours")).isEqualTo(lease.token());
    }
  }

  @Test
  void userAndDatabaseOfTheGivenClientAreUsed() throws InterruptedException {
    try (RedisClient client =
            RedisClient.builder().hostAndPort(address).clientConfig(yours()).build();
        LockManager locks = JedisRedlock.builder().client(client, address).open();
        Lease lease = locks.acquire("yours", TTL)) {
      assertThat(inDatabase(3, "yours")).isEqualTo(lease.token());
    }
  }

  @Test
  void wrongPasswordOfTheGivenClientIsRefused() {
    JedisClientConfig wrong =
        DefaultJedisClientConfig.builder().user("app").password("wr0ng").build();
    try (ConnectionPool pool = new ConnectionPool(address, wrong)) {
      assertThatItIsRefused(
          () -> JedisRedlock.builder().client(pool, address).open(), acl, "WRONGPASS");
    }
    assertThatItIsRefused(
        () -> JedisRedlock.builder().node(address, wrong).open(), acl, "WRONGPASS");
  }

  private static JedisClientConfig yours() {
    return DefaultJedisClientConfig.builder().user("app").password(PASSWORD).database(3).build();
  }
}
