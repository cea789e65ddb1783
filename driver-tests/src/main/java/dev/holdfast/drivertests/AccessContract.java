package dev.holdfast.drivertests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** User, password and database of a URL. */
public abstract class AccessContract {
  /** The ttl of all locks. */
  protected static final Duration TTL = Duration.ofSeconds(10);

  /** That of the user {@code app}, who may do everything. */
  protected static final String PASSWORD = "p@ss:w/ör?d%";

  /** The same as it stands in a URL. */
  protected static final String ENCODED = "p%40ss:w%2F%C3%B6r%3Fd%25";

  private static TestNodes servers;

  /** Takes users. */
  protected final TestNode acl;

  /** Takes a password alone. */
  private final TestNode requirepass;

  /** For each test. */
  protected AccessContract() {
    acl = servers.node(0);
    requirepass = servers.node(1);
  }

  @BeforeAll
  static void start() {
    servers = TestNodes.start(2);
    TestNode acl = servers.node(0);
    acl.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    acl.command("ACL", "SETUSER", "open", "on", "nopass", "~*", "&*", "+@all");
    acl.command("ACL", "SETUSER", "least", "on", ">" + PASSWORD, "~access", "-@all");
    acl.command("ACL", "SETUSER", "least", "~holdfast:fence:access");
    for (String right :
        List.of("set", "get", "del", "pttl", "pexpire", "eval", "evalsha", "time")) {
      acl.command("ACL", "SETUSER", "least", "+" + right);
    }
    servers.node(1).command("CONFIG", "SET", "requirepass", PASSWORD);
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @Test
  void userAndPassword() throws InterruptedException {
    assertThatALockIsGot("redis://app:" + ENCODED + "@" + acl.address());
  }

  @Test
  void userWithoutAPassword() throws InterruptedException {
    assertThatALockIsGot("redis://open@" + acl.address());
  }

  @Test
  void passwordAlone() throws InterruptedException {
    assertThatALockIsGot("redis://:" + ENCODED + "@" + requirepass.address());
  }

  /** A user who may neither ping, nor read INFO, nor name the connection. */
  @Test
  void userWithOnlyTheRightsToLockIsEnough() throws InterruptedException {
    assertThatALockIsGot("redis://least:" + ENCODED + "@" + acl.address());
  }

  @Test
  void aWrongPasswordIsRefusedAndNotShown() {
    assertThatItIsRefused("redis://app:wr0ng@" + acl.address(), acl, "WRONGPASS");
    assertThatItIsRefused("redis://:wr0ng@" + requirepass.address(), requirepass, "WRONGPASS");
  }

  @Test
  void noPasswordIsRefused() {
    assertThatItIsRefused(requirepass.uri(), requirepass, "NOAUTH");
  }

  @Test
  void aLockLivesInTheDatabaseOfTheUrl() throws InterruptedException {
    try (LockManager locks =
            LockManager.open("redlock:" + acl.uri() + "/3" + FirstLockContract.PATIENCE);
        Lease lease = locks.acquire("in-three", TTL)) {
      assertThat(inDatabase(0, "in-three")).isNull();
      assertThat(inDatabase(3, "in-three")).isEqualTo(lease.token());
    }
  }

  @Test
  void anIpv6AddressIsTakenAsOne() {
    assertThatThrownBy(() -> LockManager.open("redlock:redis://[::1]:1"))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("[::1]:1: ")
        .hasMessageNotContaining("resolve");
  }

  @Test
  void connectionsAreNamedForOperators() {
    try (LockManager locks = LockManager.open("redlock:" + acl.uri())) {
      assertThat(locks.unwrap(Object.class)).isPresent();
      assertThat(String.valueOf(acl.command("CLIENT", "LIST"))).contains(" name=holdfast ");
    }
  }

  @Test
  void anUnknownOptionIsRefused() {
    assertThatThrownBy(() -> LockManager.open("redlock:" + acl.uri() + "?nodeTimeot=5ms"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("nodeTimeout");
  }

  /** The value of a key on the server that takes users. */
  protected final @Nullable Object inDatabase(int database, String key) {
    try (RawRedis connection = RawRedis.connect(acl.host(), acl.port())) {
      connection.call("SELECT", Integer.toString(database));
      return connection.call("GET", key);
    }
  }

  /** For the code that the server gives. The password {@code wr0ng} is shown nowhere. */
  protected static void assertThatItIsRefused(
      ThrowingCallable opening, TestNode server, String code) {
    try (Logs logs = new Logs()) {
      Throwable refusal = catchThrowable(opening);
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

  private static void assertThatItIsRefused(String node, TestNode server, String code) {
    assertThatItIsRefused(
        () -> LockManager.open("redlock:" + node + "?connectTimeout=10s"), server, code);
  }

  private static void assertThatALockIsGot(String node) throws InterruptedException {
    try (LockManager locks = LockManager.open("redlock:" + node + FirstLockContract.PATIENCE)) {
      Lease lease = locks.acquire("access", TTL);
      assertThat(lease.isHeld()).isTrue();
      assertThat(lease.release()).isTrue();
    }
  }
}
