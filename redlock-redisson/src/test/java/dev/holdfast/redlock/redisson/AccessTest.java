package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.AccessContract;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

class AccessTest extends AccessContract {
  @Test
  void userPasswordAndDatabaseOfTheGivenClientAreUsed() throws InterruptedException {
    RedissonClient yours =
        YourClients.lazy(
            "redis://app:" + ENCODED + "@" + acl.address(),
            config -> config.useSingleServer().setDatabase(3));
    try (LockManager locks = RedissonRedlock.builder().client(yours).open();
        Lease lease = locks.acquire("of-your-client", TTL)) {
      assertThat(inDatabase(0, "of-your-client")).isNull();
      assertThat(inDatabase(3, "of-your-client")).isEqualTo(lease.token());
    } finally {
      YourClients.shutdown(yours);
    }
  }
}
