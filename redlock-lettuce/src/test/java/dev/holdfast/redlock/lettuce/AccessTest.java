package dev.holdfast.redlock.lettuce;

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
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** User, password and database of a URL. */
class AccessTest {
  private static final TestNodes SERVERS = TestNodes.start(2);
  private static final Duration TTL = Duration.ofSeconds(10);

  /** Takes users. */
  private static final TestNode ACL = SERVERS.node(0);

  /** Takes a password alone. */
  private static final TestNode REQUIREPASS = SERVERS.node(1);

  private static final String PASSWORD = "p@ss:w/ör?d%";
  private static final String ENCODED = "p%40ss:w%2F%C3%B6r%3Fd%25";

  @BeforeAll
  static void prepare() {
    ACL.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
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

  /** Who may neither ping, nor read INFO, nor name the connection. */
  @Test
  void aUserWhoMayDoNothingButLock() throws InterruptedException {
    ACL.command("ACL", "SETUSER", "least", "on", "nopass", "~access", "-@all");
    for (String right : List.of("set", "get", "del", "pttl", "pexpire", "eval", "evalsha")) {
      ACL.command("ACL", "SETUSER", "least", "+" + right);
    }
    try (LockManager locks = LockManager.open("redlock:redis://least@" + ACL.address())) {
      assertThat(locks.acquire("access", TTL).release()).isTrue();
    }
  }

  @Test
  void userPasswordAndDatabaseOfYourClient() throws InterruptedException {
    RedisURI uri = RedisURI.create("redis://app:" + ENCODED + "@" + ACL.address() + "/3");
    try (RedisClient yours = RedisClient.create()) {
      yours.setOptions(ClientOptions.builder().autoReconnect(false).build());
      try (LockManager locks = LettuceRedlock.builder().client(yours, uri).open();
          Lease lease = locks.acquire("of-your-client", TTL)) {
        assertThat(lease.isHeld()).isTrue();
        assertThat(ACL.command("EXISTS", "of-your-client")).isEqualTo(0L);
      }
    }
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
        Lease lease = locks.acquire("in-three", TTL);
        RawRedis connection = RawRedis.connect(ACL.host(), ACL.port())) {
      assertThat(connection.call("EXISTS", "in-three")).isEqualTo(0L);
      connection.call("SELECT", "3");
      assertThat(connection.call("GET", "in-three")).isEqualTo(lease.token());
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
      assertThat(locks.unwrap(Object.class)).isPresent();
      assertThat(String.valueOf(ACL.command("CLIENT", "LIST"))).contains(" name=holdfast ");
    }
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

  private static void assertThatItIsRefused(String node, TestNode server, String code) {
    try (Logs logs = new Logs()) {
      Throwable refusal = catchThrowable(() -> LockManager.open("redlock:" + node));
      assertThat(refusal)
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(server.address())
          .hasMessageContaining(code);
      StringWriter trace = new StringWriter();
      refusal.printStackTrace(new PrintWriter(trace));
      assertThat(trace.toString()).doesNotContain("wr0ng");
      assertThat(logs.messages()).noneMatch(message -> message.contains("wr0ng"));
    }
  }
}
