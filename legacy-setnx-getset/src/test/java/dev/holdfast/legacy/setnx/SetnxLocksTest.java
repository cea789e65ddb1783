package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.Clock;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.SslVerifyMode;

/** Opening: URLs, options, and what is found on the server. */
class SetnxLocksTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final String PATIENT = "quorumTimeout=5s&connectTimeout=10s";

  @AutoClose private static final TestNodes NODES = TestNodes.start(2);
  private static final TestNode NODE = NODES.node(0);

  /** The clock of a machine that is ahead of this one, or behind it if that is negative. */
  private record OtherClock(Duration ahead) implements Clock {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public long wallMicros() {
      return Clock.system().wallMicros() + ahead.toMillis() * 1_000;
    }
  }

  @BeforeEach
  void empty() {
    NODE.command("FLUSHALL");
  }

  @Test
  void aUrlIsAllThatIsNeeded() throws InterruptedException {
    try (LockManager locks = LockManager.open("setnx:" + NODE.uri() + "?" + PATIENT);
        Lease lease = locks.tryAcquire("orders", TTL).orElseThrow()) {
      assertThat(String.valueOf(NODE.command("GET", "lock.orders")))
          .isEqualTo(lease.token())
          .matches("[0-9]{10}");
      assertThat(locks.capabilities()).containsExactly(LockCapability.FIFO_IN_PROCESS);
    }
  }

  @Test
  void aUrlSaysWhatTheFleetWrites() throws InterruptedException {
    String url = "setnx:" + NODE.uri() + "/3?unit=ms&number=float&keyPrefix=mutex/&" + PATIENT;
    try (LockManager locks = LockManager.open(url, Map.of("owner", "me", "maxTtl", "20s"))) {
      Lease lease = locks.tryAcquire("orders", TTL).orElseThrow();

      assertThat(lease.token()).matches("[0-9]{13}\\.[0-9]{3}");
      assertThat(NODE.command("EXISTS", "mutex/orders")).as("in database 0").isEqualTo(0L);
      assertThat(lease.release()).isTrue();
      assertThatThrownBy(() -> locks.tryAcquire("orders", Duration.ofSeconds(21)))
          .hasMessageContaining("maxTtl");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          unti=ms          | there is no option 'unti'; the nearest is unit
          unit=h           | is neither: write unit=s or unit=ms
          number=double    | is neither: write number=integer or number=float
          release=checkd   | is neither: write release=checked or release=del
          connect=later    | is neither: write connect=eager or connect=lazy
          nodeTimeout=0s   | is out of range: give more than zero, up to 1h
          quorumTimeout=2h | is out of range: give more than zero, up to 1h
          retryDelay=2h    | is out of range: give more than zero, up to 1h
          clockMargin=2h   | clockMargin, PT2H, is out of range: give 0s to 1h
          clockMargin=250  | 250ms
          """)
  @Rule({"DISC-4", "ERR-4"})
  @DisplayName("a wrong option is shown with what is right")
  void aWrongOptionIsShownWithWhatIsRight(String option, String what) {
    assertThatThrownBy(() -> LockManager.open("setnx:redis://127.0.0.1:1?" + option))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(what);
  }

  @ParameterizedTest
  @CsvSource({
    "quorumTimeout=200ms&nodeTimeout=100ms, 200",
    "quorumTimeout=100ms&nodeTimeout=200ms, 200",
    "quorumTimeout=200ms, 200"
  })
  @Rule("REL-4")
  @DisplayName("an operation may take quorumTimeout, or nodeTimeout if that is longer")
  void operationMayTakeTheLongerOfBothTimeouts(String options, int millis)
      throws InterruptedException {
    try (LockManager locks = LockManager.open("setnx:" + NODE.uri() + "?" + options)) {
      Lease lease = locks.acquire("orders", TTL);
      NODE.freeze();
      try {
        assertThatThrownBy(lease::release)
            .isInstanceOf(LockOutageException.class)
            .hasMessageEndingWith(": no answer within " + millis + " ms");
      } finally {
        NODE.thaw();
      }
    }
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName("a server that pauses for less than quorumTimeout is no outage")
  void aServerThatPausesIsNoOutage() throws InterruptedException {
    try (LockManager locks = LockManager.open("setnx:" + NODE.uri())) {
      NODE.command("CLIENT", "PAUSE", "300", "ALL");
      Lease lease = locks.tryAcquire("orders", TTL).orElseThrow();
      NODE.command("CLIENT", "PAUSE", "300", "ALL");

      assertThat(lease.release()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"setnx:", "setnx:orders", "'setnx:redis://127.0.0.1:1,redis://127.0.0.1:2'"})
  void thereIsOneServer(String url) {
    assertThatThrownBy(() -> LockManager.open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            url + " is not one node: write setnx:redis://host:port; this lock lives on one server");
  }

  @Test
  void aBuilderTakesOneServer() {
    SetnxLocks.Builder builder = SetnxLocks.builder();

    assertThatThrownBy(builder::open).hasMessage("there is no node: give one");
    builder.node(URI.create("redis://127.0.0.1:1"));
    assertThatThrownBy(() -> builder.node(URI.create("redis://127.0.0.1:2")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("127.0.0.1:1", "127.0.0.1:2", "give one");
    assertThatThrownBy(() -> builder.unit(ChronoUnit.HOURS))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("SECONDS or MILLIS");
  }

  @Test
  void aHostIsVerifiedWhereTlsIsAskedFor() {
    Address address = Address.of(URI.create("rediss://user:pw@example.com/2"));

    assertThat(address.config(TTL).getSslOptions().getSslVerifyMode())
        .isEqualTo(SslVerifyMode.FULL);
    assertThat(address.text()).isEqualTo("example.com:6379/2");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("a server that is down fails the opening, with its address and the cause")
  void aServerThatIsDownIsAnOutage() {
    LockOutageException outage =
        catchThrowableOfType(
            LockOutageException.class, () -> LockManager.open("setnx:redis://127.0.0.1:1"));

    assertThat(outage)
        .hasMessageStartingWith(
            "not connected; start the server or check its address: 127.0.0.1:1: ")
        .hasMessageContaining("refused");
    assertThat(outage.failures()).containsOnlyKeys("127.0.0.1:1");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("a server that hangs fails the opening within connectTimeout")
  void aServerThatHangsIsAnOutage() {
    NODE.freeze();
    try {
      assertThatThrownBy(() -> LockManager.open("setnx:" + NODE.uri() + "?connectTimeout=300ms"))
          .isInstanceOf(LockOutageException.class)
          .hasMessageEndingWith(NODE.address() + ": not connected within 300 ms");
    } finally {
      NODE.thaw();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a replica is an error that names it and its master")
  void aReplicaIsAMistake() {
    TestNode replica = NODES.node(1);
    replica.command("REPLICAOF", NODE.host(), Integer.toString(NODE.port()));
    try {
      assertThatThrownBy(() -> LockManager.open("setnx:" + replica.uri() + "?" + PATIENT))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(
              replica.address(), "it is a replica of " + NODE.address() + ": give the master");
    } finally {
      replica.command("REPLICAOF", "NO", "ONE");
    }
  }

  @Test
  void aMasterThatBecomesAReplicaIsAMistake() throws InterruptedException {
    TestNode demoted = NODES.node(1);
    try (LockManager locks = LockManager.open("setnx:" + demoted.uri() + "?" + PATIENT)) {
      demoted.command("REPLICAOF", NODE.host(), Integer.toString(NODE.port()));

      assertThatThrownBy(() -> locks.acquire("orders", TTL))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(demoted.address(), "READONLY", "give the master");
    } finally {
      demoted.command("REPLICAOF", "NO", "ONE");
    }
  }

  @Test
  @Rule("OPEN-4")
  @DisplayName("connect=lazy connects for the first lock")
  void aLazyManagerConnectsForTheFirstLock() throws InterruptedException {
    TestNode down = NODES.node(1);
    down.kill();
    try (LockManager locks = LockManager.open("setnx:" + down.uri() + "?connect=lazy&" + PATIENT)) {
      assertThatThrownBy(() -> locks.tryAcquire("orders", TTL))
          .isInstanceOf(LockOutageException.class);
      down.restart();

      assertThat(locks.tryAcquire("orders", TTL)).isPresent();
    } finally {
      down.restart();
    }
  }

  @Test
  @Rule("ERR-3")
  @DisplayName("a password stands in no message")
  void aPasswordIsNeverShown() {
    String secret = "hunter2-" + NODE.port();
    for (String user : List.of("app", "")) {
      URI uri = URI.create(NODE.uri().replace("://", "://" + user + ":" + secret + "@"));
      Throwable thrown = catchThrowable(() -> SetnxLocks.builder().node(uri).open().close());
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));

      assertThat(thrown).hasMessageContaining(NODE.address());
      assertThat(trace.toString()).doesNotContain(secret);
    }
    assertThatThrownBy(() -> LockManager.open("setnx:redis://a:" + secret + "@h/x?unit=s"))
        .hasMessageNotContaining(secret);
  }

  @ParameterizedTest
  @CsvSource({"://:wrong@, '', without any password configured", "://, /9999, out of range"})
  @Rule("ERR-1")
  @DisplayName("a password that is not needed, or a database that is not there, is no outage")
  void superfluousPasswordOrMissingDatabaseIsAConfigurationError(
      String start, String end, String message) {
    String url = "setnx:" + NODE.uri().replace("://", start) + end + "?" + PATIENT;

    assertThatThrownBy(() -> LockManager.open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll(NODE.address(), message, "check this node's URL");
  }

  @Test
  void credentialsThatAreRefusedAreAMistake() {
    String url = "setnx:" + NODE.uri().replace("://", "://nobody:wrong@") + "?" + PATIENT;

    assertThatThrownBy(() -> LockManager.open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll(
            NODE.address(), "WRONGPASS", "check the user and password of this node's URL");
  }

  @Test
  void fourCommandsAreTheOnlyRightsNeeded() throws InterruptedException {
    NODE.command(
        "ACL", "SETUSER", "least", "on", ">pw", "~lock.*", "+setnx", "+get", "+getset", "+del");
    String url = "setnx:" + NODE.uri().replace("://", "://least:pw@") + "?" + PATIENT;
    try (LockManager locks = LockManager.open(url)) {
      assertThat(locks.tryAcquire("orders", TTL).orElseThrow().release()).isTrue();
    }
    NODE.command("ACL", "SETUSER", "least", "-setnx");
    try (LockManager locks = LockManager.open(url)) {
      assertThatThrownBy(() -> locks.tryAcquire("orders", TTL))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(NODE.address(), "NOPERM", "this user's ACL lacks a right");
    }
  }

  @ParameterizedTest
  @CsvSource({"PT3S, ahead of", "PT-3S, behind"})
  void aClockThatIsWrongByMoreThanASecondIsReportedWhenTheManagerOpens(
      Duration wrong, String direction) {
    try (Logs logs = new Logs();
        LockManager locks = patient(new OtherClock(wrong)).open()) {
      assertThat(logs.warnings())
          .singleElement()
          .asString()
          .matches(
              "the clock of this machine is [23]\\.[0-9] s "
                  + direction
                  + " that of node "
                  + NODE.address()
                  + ": clients with clocks apart can hold the same lock; set both clocks, by NTP"
                  + " for example");
      assertThat(locks.capabilities()).isNotEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"PT0.9S", "PT-0.9S", "PT0S"})
  void aClockThatIsNearlyRightIsNotReported(Duration wrong) {
    try (Logs logs = new Logs();
        LockManager locks = patient(new OtherClock(wrong)).open()) {
      assertThat(logs.warnings()).isEmpty();
      assertThat(locks.capabilities()).isNotEmpty();
    }
  }

  @Test
  void aWrongClockIsReportedOnceForAllConnections() throws InterruptedException {
    try (Logs logs = new Logs();
        LockManager locks = patient(new OtherClock(TTL)).connectLazily().open()) {
      assertThat(logs.warnings()).as("before the first connection").isEmpty();
      locks.acquire("one", TTL);
      NODE.command("CLIENT", "KILL", "TYPE", "normal");
      locks.acquire("other", TTL);

      assertThat(logs.warnings().stream().filter(line -> line.contains("clock"))).hasSize(1);
    }
  }

  @Test
  void aPolicyThatEvictsOnlyKeysWithATimeToLiveIsNotWarnedOf() {
    NODE.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
    try (Logs logs = new Logs();
        LockManager locks = patient(Clock.system()).open()) {
      assertThat(logs.warnings()).isEmpty();
      assertThat(locks.capabilities()).isNotEmpty();
    } finally {
      NODE.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("closing leaves no connection")
  void closingLeavesNoConnection() throws InterruptedException {
    LockManager locks = patient(Clock.system()).open();
    locks.acquire("orders", TTL);
    assertThat(connections()).isPositive();

    locks.close();

    await().untilAsserted(() -> assertThat(connections()).isZero());
  }

  private static long connections() {
    return String.valueOf(NODE.command("CLIENT", "LIST"))
        .lines()
        .filter(line -> line.contains(" name=holdfast "))
        .count();
  }

  private static SetnxLocks.Builder patient(Clock clock) {
    return SetnxLocks.builder()
        .node(URI.create(NODE.uri()))
        .clock(clock)
        .quorumTimeout(Duration.ofSeconds(5))
        .connectTimeout(TTL);
  }
}
