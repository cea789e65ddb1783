package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/** A user's pool of one connection, which its user may have taken. */
class PooledNodeTest {
  private static final String SET = "return redis.call('SET', KEYS[1], 'late')";

  private final TestNodes servers = TestNodes.start(1);
  private final TestNode server = servers.node(0);
  private final ConnectionPool pool = poolOfOne(new HostAndPort(server.host(), server.port()));
  private final Driver driver =
      new Driver(
          JedisRedlock.builder()
              .client(pool, new HostAndPort(server.host(), server.port()))
              .options(RedlockOptions.defaults().quorumTimeout(Duration.ofSeconds(20)))
              .connections(),
          pool::close);

  private static ConnectionPool poolOfOne(HostAndPort server) {
    ConnectionPoolConfig one = new ConnectionPoolConfig();
    one.setMaxTotal(1);
    return new ConnectionPool(server, DefaultJedisClientConfig.builder().build(), one);
  }

  @AfterEach
  void close() {
    driver.close();
    servers.close();
  }

  /** The caller may have released the lock by then. */
  @Test
  void aCommandThatWaitsForAConnectionIsNotSentOnceItsNodeWasDropped() throws Exception {
    AtomicInteger ends = driver.connect(0);
    Connection taken = pool.getResource();
    Asked waiting = Asked.of(driver.first(), SET);
    soon().until(() -> pool.getNumWaiters() == 1);
    driver.first().disconnect(0);
    taken.close();
    soon().until(() -> ends.get() == 1);

    assertThat(waiting.failure()).isNotNull();
    assertThat(server.command("EXISTS", "the-key")).isEqualTo(0L);
    driver.connect(0);
    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
    assertThat(waiting.answers()).hasSize(1);
  }

  @Test
  void noSlotOfThePoolIsLostWhenConnectingFails() throws Exception {
    server.kill();
    for (int attempt = 0; attempt < 5; attempt++) {
      assertThatThrownBy(() -> driver.first().connect(0, () -> {}).get(10, SECONDS)).isNotNull();
    }
    assertThat(pool.getNumActive()).isZero();
    server.restart();
    driver.connect(0);

    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
    assertThat(pool.getNumActive()).isLessThanOrEqualTo(1);
  }
}
