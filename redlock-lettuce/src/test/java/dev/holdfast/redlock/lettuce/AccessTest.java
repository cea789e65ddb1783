package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.drivertests.AccessContract;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;

class AccessTest extends AccessContract {
  @Test
  void userPasswordAndDatabaseOfTheGivenClientAreUsed() throws InterruptedException {
    RedisURI uri = RedisURI.create("redis://app:" + ENCODED + "@" + acl.address() + "/3");
    try (RedisClient yours = RedisClient.create()) {
      yours.setOptions(ClientOptions.builder().autoReconnect(false).build());
      try (LockManager locks = LettuceRedlock.builder().client(yours, uri).open();
          Lease lease = locks.acquire("of-your-client", TTL)) {
        assertThat(inDatabase(0, "of-your-client")).isNull();
        assertThat(inDatabase(3, "of-your-client")).isEqualTo(lease.token());
      }
    }
  }
}
