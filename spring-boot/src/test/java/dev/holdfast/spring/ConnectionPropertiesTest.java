package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code holdfast.nodes}, on real servers whose user has a password. */
class ConnectionPropertiesTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String PASSWORD = "p@ss,/:%+ word";

  private static TestNodes servers;

  private final ApplicationContextRunner contexts =
      Contexts.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class);

  @BeforeAll
  static void start() {
    servers = TestNodes.start(3);
    for (TestNode node : servers.all()) {
      node.command("ACL", "SETUSER", "app", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    }
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @BeforeEach
  void empty() {
    servers.all().forEach(node -> node.command("FLUSHALL"));
  }

  /** Returns the contexts with all servers as nodes, which vote at once. */
  private ApplicationContextRunner withNodes() {
    List<String> properties = new ArrayList<>(List.of("holdfast.options.newNodes=trust"));
    for (TestNode node : servers.all()) {
      String key = "holdfast.nodes[" + node.index() + "].";
      properties.add(key + "host=" + node.host());
      properties.add(key + "port=" + node.port());
      properties.add(key + "username=app");
      properties.add(key + "password=" + PASSWORD);
      properties.add(key + "database=2");
    }
    return contexts.withPropertyValues(properties.toArray(String[]::new));
  }

  @Test
  void nodesAreReachedByTheirHostPortLoginAndDatabase() {
    withNodes()
        .run(
            context -> {
              try (Lease lease =
                  context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
                assertThat(lease.isHeld()).isTrue();
                for (TestNode node : servers.all()) {
                  assertThat(node.command("EXISTS", "a")).isEqualTo(0L);
                  assertThat(String.valueOf(node.command("CLIENT", "LIST")))
                      .containsPattern(" name=holdfast .* db=2 .* user=app ");
                }
              }
            });
  }

  @Test
  void aWrongPasswordIsNotShown() {
    withNodes()
        .withPropertyValues(
            "holdfast.nodes[0].password=wr0ng,",
            "holdfast.nodes[1].password=wr0ng,",
            "holdfast.nodes[2].password=wr0ng,")
        .run(
            context ->
                assertThat(messages(Objects.requireNonNull(context.getStartupFailure())))
                    .contains("127.0.0.1")
                    .doesNotContain("wr0ng"));
  }

  private static String messages(Throwable failure) {
    StringBuilder all = new StringBuilder();
    for (Throwable each = failure; each != null; each = each.getCause()) {
      all.append(each).append('\n');
    }
    return all.toString();
  }

  @Test
  void textOfPropertiesAndNodesShowsNoPassword() {
    withNodes()
        .withPropertyValues("holdfast.managers.other.url=memory:?owner=p%40ss")
        .run(
            context -> {
              HoldfastProperties properties = context.getBean(HoldfastProperties.class);
              assertThat(
                      properties.toString()
                          + properties.nodes()
                          + properties.managers()
                          + context.getBean(HoldfastConnectionDetails.class))
                  .contains(servers.node(0).address())
                  .contains("other=ManagerProperties")
                  .doesNotContain(PASSWORD)
                  .doesNotContain("p%40ss");
            });
  }

  @Test
  void aUrlBesideNodesIsRefusedWithWhatToDo() {
    withNodes()
        .withPropertyValues("holdfast.url=memory:")
        .run(
            context -> {
              var analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .isEqualTo("holdfast.url and holdfast.nodes are both set; remove one of them");
              assertThat(analysis.getAction()).isEqualTo("Remove one of them.");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "port=7000 | holdfast.nodes[0].host is missing; set it",
        "host=h1 username=app | holdfast.nodes[0].username is set without a password",
        "host=redis://:s3cret@h1 | holdfast.nodes[0].host: a host is the name",
        "host=h1,redis://:s3cret@h2 | holdfast.nodes[0].host: a host is the name",
        "host=h1 port=70000 | holdfast.nodes[0].port is 70000; set it to 1 to 65535",
        "host=h1 port=0 | holdfast.nodes[0].port is 0; set it to 1 to 65535",
        "host=h1 database=-1 | holdfast.nodes[0].database is -1; set it to 0 or more",
        "host=h1 ssl.bundle=own | holdfast.nodes[0].ssl.bundle is 'own', but there is no such SSL",
      })
  void aWrongNodeIsNamedByItsKey(String keys, String message) {
    contexts
        .withPropertyValues(Contexts.properties("holdfast.nodes[0].", keys))
        .run(
            context ->
                assertThat(Failures.analyze(context).getDescription())
                    .contains(message)
                    .doesNotContain("s3cret"));
  }

  @Test
  void aPortThatIsNoNumberFailsTheBinding() {
    contexts
        .withPropertyValues("holdfast.nodes[0].host=h1", "holdfast.nodes[0].port=many")
        .run(
            context ->
                assertThat(messages(Objects.requireNonNull(context.getStartupFailure())))
                    .contains("holdfast.nodes[0].port")
                    .contains("many"));
  }

  @Test
  void twoContextsOfOneJvmExcludeEachOtherAndEndEachByItself() {
    withNodes()
        .run(
            first -> {
              LockManager locks = first.getBean(LockManager.class);
              withNodes()
                  .run(
                      second -> {
                        LockManager others = second.getBean(LockManager.class);
                        assertThat(others).isNotSameAs(locks);
                        try (Lease lease = locks.tryAcquire("a", TTL).orElseThrow()) {
                          assertThat(lease.isHeld()).isTrue();
                          assertThat(others.tryAcquire("a", TTL)).isEmpty();
                        }
                      });
              try (Lease lease = locks.tryAcquire("a", TTL).orElseThrow()) {
                assertThat(lease.isHeld()).isTrue();
              }
            });
  }

  @Test
  void aFailingStartLeavesNoThread() {
    List<String> before = ourThreads();
    withNodes()
        .withPropertyValues("holdfast.managers.orders.url=memory:?nonsense=1")
        .run(
            context ->
                Failures.assertThatTheStartIsRefused(context).hasMessageContaining("nonsense"));
    Eventually.soon().untilAsserted(() -> assertThat(ourThreads()).isEqualTo(before));
  }

  private static List<String> ourThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("holdfast-") && !name.startsWith("holdfast-nodes"))
        .sorted()
        .toList();
  }

  /** Returns contexts with a node that does not run. */
  private ApplicationContextRunner withoutServers() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return contexts.withPropertyValues(
          "holdfast.nodes[0].host=127.0.0.1", "holdfast.nodes[0].port=" + socket.getLocalPort());
    }
  }

  @Test
  void anApplicationStartsWithoutItsServersIfItConnectsLazily() throws IOException {
    withoutServers()
        .withPropertyValues("holdfast.options.connect=lazy")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              LockManager locks = context.getBean(LockManager.class);
              assertThatThrownBy(() -> locks.tryAcquire("a", TTL))
                  .isInstanceOf(LockOutageException.class)
                  .hasMessageContaining("127.0.0.1:");
            });
  }

  @Test
  void anApplicationThatConnectsLazilyLocksOnceItsServerIsThere() {
    try (TestNodes servers = TestNodes.start(1)) {
      TestNode server = servers.node(0);
      server.kill();
      contexts
          .withPropertyValues(
              "holdfast.nodes[0].host=" + server.host(),
              "holdfast.nodes[0].port=" + server.port(),
              "holdfast.options.connect=lazy",
              "holdfast.options.newNodes=trust")
          .run(
              context -> {
                LockManager locks = context.getBean(LockManager.class);
                assertThatThrownBy(() -> locks.tryAcquire("a", TTL))
                    .isInstanceOf(LockOutageException.class);
                server.restart();
                Eventually.soon()
                    .ignoreExceptionsInstanceOf(LockOutageException.class)
                    .untilAsserted(() -> assertThat(locks.tryAcquire("a", TTL)).isPresent());
              });
    }
  }

  @Test
  void aStartWithoutServersIsAnalyzedWithWhatToDo() throws IOException {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    withoutServers()
        .run(
            context -> {
              var analysis = Failures.analyze(context);
              assertThat(analysis.getDescription()).contains("127.0.0.1:").contains("no quorum");
              assertThat(analysis.getAction())
                  .contains("Start the servers")
                  .contains("holdfast.options.connect to lazy");
            });
    Eventually.soon().untilAsserted(() -> assertThat(startedSince(before)).isEmpty());
  }

  private static List<String> startedSince(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.startsWith("holdfast") || name.startsWith("lettuce"))
        .toList();
  }
}
