package dev.holdfast.redlock.redisson;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.drivertests.Connections;
import dev.holdfast.drivertests.FirstLockContract;
import dev.holdfast.testnodes.TestNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

class FirstLockTest extends FirstLockContract {
  FirstLockTest() {
    super("redisson", 2, 2);
  }

  @Test
  void ownClientIsNotUnwrapped() {
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      assertThat(locks.unwrap(RedissonClient.class)).isEmpty();
    }
  }

  @Test
  void addressesOpenAManager() throws InterruptedException {
    RedissonRedlock.Builder builder = RedissonRedlock.builder();
    servers.uris().forEach(builder::node);
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void givenClientsOpenAManager() throws InterruptedException {
    List<RedissonClient> yours = servers.uris().stream().map(YourClients::connected).toList();
    try {
      RedissonRedlock.Builder builder = RedissonRedlock.builder();
      yours.forEach(builder::client);
      List<Long> before = servers.all().stream().map(Connections::to).toList();
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedissonClient.class)).containsSame(yours.get(0));
        assertThat(locks.unwrap(Redisson.class)).containsSame((Redisson) yours.get(0));
        assertThat(threadsOfOurs()).noneMatch(thread -> thread.getName().contains("redisson"));
        for (TestNode server : servers.all()) {
          assertThat(Connections.to(server)).isEqualTo(before.get(server.index()) + 1);
        }
      }
      for (TestNode server : servers.all()) {
        assertThatItIsLeftOpen(yours.get(server.index()));
        soon().until(() -> Connections.to(server) == before.get(server.index()));
      }
    } finally {
      yours.forEach(YourClients::shutdown);
    }
  }

  @Test
  void twoManagersShareGivenClients() throws Exception {
    List<RedissonClient> yours = servers.uris().stream().map(YourClients::connected).toList();
    try {
      RedissonRedlock.Builder builder = RedissonRedlock.builder();
      yours.forEach(builder::client);
      useTwo(builder::open);
      yours.forEach(FirstLockTest::assertThatItIsLeftOpen);
    } finally {
      yours.forEach(YourClients::shutdown);
    }
  }

  @Test
  void givenClientsAndAddressesCanBeCombined() throws InterruptedException {
    RedissonClient yours = YourClients.connected(servers.node(2).uri());
    try {
      RedissonRedlock.Builder builder = RedissonRedlock.builder();
      for (TestNode server : servers.all()) {
        if (server.index() == 2) {
          builder.client(yours);
        } else {
          builder.node(server.uri());
        }
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
      }
      assertThatItIsLeftOpen(yours);
    } finally {
      YourClients.shutdown(yours);
    }
  }

  private static void assertThatItIsLeftOpen(RedissonClient client) {
    assertThat(client.isShuttingDown()).isFalse();
    assertThat(client.getBucket("none", StringCodec.INSTANCE).get()).isNull();
  }
}
