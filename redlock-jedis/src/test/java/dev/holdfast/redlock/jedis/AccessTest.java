package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;

/** Users, passwords and databases: of a URL, of a configuration, of a client. */
class AccessTest {
  private static final TestNodes SERVERS = TestNodes.start(2);
  private static final Duration TTL = Duration.ofSeconds(10);

  /** Takes users. */
  private static final TestNode ACL = SERVERS.node(0);

  private static final HostAndPort ADDRESS = new HostAndPort(ACL.host(), ACL.port());

  /** Takes a password alone. */
  private static final TestNode REQUIREPASS = SERVERS.node(1);

  private static final String PASSWORD = "p@ss:w/ör?d%";
  private static final String ENCODED = "p%40ss:w%2F%C3%B6r%3Fd%25";

  @BeforeAll
  static void prepare() {
    ACL.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    ACL.command("ACL", "SETUSER", "few", "on", ">" + PASSWORD, "~*", "-@all");
    for (String right : List.of("set", "get", "del", "pttl", "pexpire", "eval", "evalsha")) {
      ACL.command("ACL", "SETUSER", "few", "+" + right);
    }
    ACL.command("ACL", "SETUSER", "few", "+info");
    ACL.command("ACL", "SETUSER", "open", "on", "nopass", "~*", "&*", "+@all");
    REQUIREPASS.command("CONFIG", "SET", "requirepass", PASSWORD);
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void userAndPassword() throws InterruptedException {
    assertThatALockIsGot("redis://app:" + ENCODED + "@" + ACL.address());
  }

  @Test
  void userWithoutAPassword() throws InterruptedException {
    assertThatALockIsGot("redis://open@" + ACL.address());
  }

  @Test
  void passwordAlone() throws InterruptedException {
    assertThatALockIsGot("redis://:" + ENCODED + "@" + REQUIREPASS.address());
  }

  @Test
  void aWrongPasswordIsRefusedAndNotShown() {
    assertThatItIsRefused("redis://app:wr0ng@" + ACL.address(), ACL, "WRONGPASS");
    assertThatItIsRefused("redis://:wr0ng@" + REQUIREPASS.address(), REQUIREPASS, "WRONGPASS");
  }

  @Test
  void noPasswordIsRefused() {
    assertThatItIsRefused(REQUIREPASS.uri(), REQUIREPASS, "NOAUTH");
  }

  @Test
  void aLockLivesInTheDatabaseOfTheUrl() throws InterruptedException {
    try (LockManager locks = LockManager.open("redlock:" + ACL.uri() + "/3?nodeTimeout=1s");
        Lease lease = locks.acquire("in-three", TTL)) {
      assertThat(inDatabase(0, "in-three")).isNull();
      assertThat(inDatabase(3, "in-three")).isEqualTo(lease.token());
    }
  }

  @Test
  void anIpv6AddressIsTakenAsOne() {
    assertThatThrownBy(() -> LockManager.open("redlock:redis://[::1]:1"))
        .isInstanceOf(LockBackendException.class)
        .hasMessageContaining("[::1]:1: ")
        .hasMessageNotContaining("resolve");
  }

  @Test
  void anOperatorSeesWhoseConnectionItIs() {
    try (LockManager locks = LockManager.open("redlock:" + ACL.uri())) {
      assertThat(locks.capabilities()).isNotEmpty();
      assertThat(String.valueOf(ACL.command("CLIENT", "LIST"))).contains(" name=holdfast ");
    }
  }

  /** Neither PING nor CLIENT, HELLO or SELECT. */
  @Test
  void aUserWithFewRightsIsEnough() throws InterruptedException {
    assertThatALockIsGot("redis://few:" + ENCODED + "@" + ACL.address());
  }

  @Test
  void yourConfigurationsUserAndDatabaseCount() throws InterruptedException {
    try (LockManager locks = JedisRedlock.builder().node(ADDRESS, yours()).open();
        Lease lease = locks.acquire("yours", TTL)) {
      assertThat(inDatabase(3, "yours")).isEqualTo(lease.token());
    }
  }

  @Test
  void yourClientsUserAndDatabaseCount() throws InterruptedException {
    try (RedisClient client =
            RedisClient.builder().hostAndPort(ADDRESS).clientConfig(yours()).build();
        LockManager locks = JedisRedlock.builder().client(client, ADDRESS).open();
        Lease lease = locks.acquire("yours", TTL)) {
      assertThat(inDatabase(3, "yours")).isEqualTo(lease.token());
    }
  }

  @Test
  void aWrongPasswordOfYourClientsIsRefused() {
    JedisClientConfig wrong =
        DefaultJedisClientConfig.builder().user("app").password("wr0ng").build();
    try (ConnectionPool pool = new ConnectionPool(ADDRESS, wrong)) {
      assertThatItIsRefused(() -> JedisRedlock.builder().client(pool, ADDRESS).open(), ACL);
    }
    assertThatItIsRefused(() -> JedisRedlock.builder().node(ADDRESS, wrong).open(), ACL);
  }

  @Test
  void anUnknownOptionIsRefused() {
    assertThatThrownBy(() -> LockManager.open("redlock:" + ACL.uri() + "?nodeTimeot=5ms"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("nodeTimeout");
  }

  private static void assertThatALockIsGot(String node) throws InterruptedException {
    try (LockManager locks = LockManager.open("redlock:" + node + "?nodeTimeout=1s");
        Lease lease = locks.acquire("access", TTL)) {
      assertThat(lease.isHeld()).isTrue();
    }
  }

  private static JedisClientConfig yours() {
    return DefaultJedisClientConfig.builder().user("app").password(PASSWORD).database(3).build();
  }

  private static @Nullable Object inDatabase(int database, String key) {
    try (RawRedis connection = RawRedis.connect(ACL.host(), ACL.port())) {
      connection.call("SELECT", Integer.toString(database));
      return connection.call("GET", key);
    }
  }

  private static void assertThatItIsRefused(String node, TestNode server, String code) {
    try (Logs logs = new Logs()) {
      Throwable refusal = catchThrowable(() -> LockManager.open("redlock:" + node));
      assertThat(refusal).hasMessageContaining(code);
      assertThatItIsRefused(() -> LockManager.open("redlock:" + node), server);
      assertThat(logs.messages()).noneMatch(message -> message.contains("wr0ng"));
    }
  }

  private static void assertThatItIsRefused(ThrowingCallable opening, TestNode server) {
    Throwable refusal = catchThrowable(opening);
    assertThat(refusal)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(server.address());
    StringWriter trace = new StringWriter();
    refusal.printStackTrace(new PrintWriter(trace));
    assertThat(trace.toString()).doesNotContain("wr0ng");
  }
}
