package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.drivertests.FirstLockContract;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Logs;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FirstLockTest extends FirstLockContract {
  FirstLockTest() {
    super("lettuce", 2, 2);
  }

  @Test
  void addressesOpenAManager() throws InterruptedException {
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
    servers.uris().forEach(uri -> builder.node(RedisURI.create(uri)));
    try (LockManager locks = builder.open()) {
      takeAndRelease(locks);
    }
  }

  @Test
  void oneGivenClientServesAllNodes() throws InterruptedException {
    RedisClient yours = yourClient();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      servers.uris().forEach(uri -> builder.client(yours, RedisURI.create(uri)));
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedisClient.class)).containsSame(yours);
        assertThat(locks.unwrap(StatefulRedisConnection.class)).isEmpty();
      }
      assertThatItIsOpen(yours);
    } finally {
      yours.shutdown();
    }
  }

  @Test
  void twoManagersShareAGivenClient() throws Exception {
    RedisClient yours = yourClient();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      servers.uris().forEach(uri -> builder.client(yours, RedisURI.create(uri)));
      useTwo(builder::open);
      assertThatItIsOpen(yours);
    } finally {
      yours.shutdown();
    }
  }

  /** Lettuce would warn of a connection that both have closed. */
  @Test
  void givenClientMayBeShutDownRightAfterTheManager() {
    try (Logs logs = new Logs()) {
      for (int i = 0; i < 20; i++) {
        RedisClient yours = yourClient();
        LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
        servers.uris().forEach(uri -> builder.client(yours, RedisURI.create(uri)));
        builder.open().close();
        yours.shutdown();
      }
      assertThat(logs.messages()).isEmpty();
    }
  }

  @Test
  void oneGivenClientPerNodeOpensAManager() throws InterruptedException {
    List<RedisClient> yours = Stream.generate(FirstLockTest::yourClient).limit(5).toList();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      for (TestNode server : servers.all()) {
        builder.client(yours.get(server.index()), RedisURI.create(server.uri()));
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
        assertThat(locks.unwrap(RedisClient.class)).containsSame(yours.get(0));
      }
      yours.forEach(this::assertThatItIsOpen);
    } finally {
      yours.forEach(RedisClient::shutdown);
    }
  }

  @Test
  void givenAndOwnClientsCanBeCombined() throws InterruptedException {
    RedisClient yours = yourClient();
    try {
      LettuceRedlock.Builder builder = LettuceRedlock.builder().options(PATIENT);
      for (TestNode server : servers.all()) {
        RedisURI uri = RedisURI.create(server.uri());
        if (server.index() % 2 == 0) {
          builder.client(yours, uri);
        } else {
          builder.node(uri);
        }
      }
      try (LockManager locks = builder.open()) {
        takeAndRelease(locks);
      }
      assertThatItIsOpen(yours);
    } finally {
      yours.shutdown();
    }
  }

  @Test
  void unwrappedClientIsFullyUsable() {
    try (LockManager locks = LockManager.open(url("redlock:"))) {
      assertThatItIsOpen(locks.unwrap(RedisClient.class).orElseThrow());
    }
  }

  private static RedisClient yourClient() {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    return client;
  }

  private void assertThatItIsOpen(RedisClient client) {
    try (StatefulRedisConnection<String, String> connection =
        client.connect(RedisURI.create(servers.node(0).uri()))) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }
}
