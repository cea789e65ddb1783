package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Fakes;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The endpoint on a server with a port, as operators and their tools see it. */
class LocksEndpointTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String UNRESTRICTED = "management.endpoint.locks.access=unrestricted";

  private static ConfigurableApplicationContext several;

  private final HttpClient http = HttpClient.newHttpClient();
  private final JsonMapper json = new JsonMapper();

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(OrdersAndUsers.class)
  static class SeveralManagers {}

  @BeforeAll
  static void startWithSeveralManagers() {
    several = start(SeveralManagers.class, UNRESTRICTED);
  }

  @AfterAll
  static void stop() {
    several.close();
  }

  private static ConfigurableApplicationContext start(Class<?> type, String... properties) {
    return new SpringApplicationBuilder(type)
        .properties(
            "server.port=0",
            "holdfast.url=memory:",
            "management.endpoints.web.exposure.include=locks",
            "spring.main.banner-mode=off")
        .run(Stream.of(properties).map(p -> "--" + p).toArray(String[]::new));
  }

  private HttpResponse<String> call(
      ConfigurableApplicationContext context, String method, String path) throws Exception {
    String port = context.getEnvironment().getRequiredProperty("local.server.port");
    URI uri = URI.create("http://localhost:" + port + "/actuator/locks" + path);
    return http.send(
        HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode get(ConfigurableApplicationContext context, String path) throws Exception {
    HttpResponse<String> response = call(context, "GET", path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return json.readTree(response.body());
  }

  @Test
  void nodesAndLeasesOfThisProcessAreShown() throws Exception {
    try (ConfigurableApplicationContext context = start(Application.class)) {
      LockManager locks = context.getBean(LockManager.class);
      Lease lease =
          locks.acquire(
              LockRequest.of("order-4711", TTL)
                  .ownerLabel("worker-7")
                  .keepAliveUpTo(Duration.ofMinutes(5)));

      HttpResponse<String> response = call(context, "GET", "");
      JsonNode manager = json.readTree(response.body()).at("/managers/lockManager");

      assertThat(manager.at("/nodes/0/address").asString())
          .isEqualTo(locks.nodes().get(0).address());
      assertThat(manager.at("/nodes/0/state").asString()).isEqualTo("UP");
      assertThat(manager.at("/leases/0/name").asString()).isEqualTo("order-4711");
      assertThat(manager.at("/leases/0/owner").asString()).isEqualTo("worker-7");
      assertThat(Duration.parse(manager.at("/leases/0/remaining").asString()))
          .isBetween(Duration.ofSeconds(1), TTL);
      assertThat(manager.at("/leases/0/keptAliveUntil").asString()).endsWith("Z");
      assertThat(response.body()).doesNotContain(lease.token());
      assertThat(lease.release()).isTrue();
      assertThat(get(context, "").at("/managers/lockManager/leases")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"order-4711", "orders/4711"})
  void theHolderOfALockIsShown(String name) throws Exception {
    try (ConfigurableApplicationContext context = start(Application.class)) {
      LockManager locks = context.getBean(LockManager.class);
      assertThat(get(context, "/" + name).at("/managers/lockManager/held").asBoolean()).isFalse();

      Lease lease = locks.acquire(LockRequest.of(name, TTL).ownerLabel("worker-7"));
      HttpResponse<String> response = call(context, "GET", "/" + name);
      JsonNode body = json.readTree(response.body());
      JsonNode answer = body.at("/managers/lockManager");

      assertThat(body.at("/name").asString()).isEqualTo(name);
      assertThat(answer.at("/held").asBoolean()).isTrue();
      assertThat(answer.at("/owner").asString()).isEqualTo("worker-7");
      assertThat(answer.at("/votes/granted").asInt()).isEqualTo(1);
      assertThat(Duration.parse(answer.at("/remaining").asString())).isPositive();
      assertThat(response.body()).doesNotContain(lease.token());
      assertThat(lease.release()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0c6a4d2e-91b1-4f6e-8a43-1f0d7f5f1c11:42, …:42", // a UUID and a thread
    "orders-0c6a4d2e91b14f6e8a431f0d7f5f1c11, orders-…", // hex
    "02347109834710298347, …",
    "h6YHJ3UcnyBEaXfVVJqVzg==, …", // Base64 of 16 bytes
    "Lq-3mZk_9fTb0RxUe7Yw2A, …", // the same for URLs
    "1SrOwEqgvkYtZ0Cx4cHVRvaPoT4, …", // a KSUID
    "01ARZ3NDEKTSV4RRFFQ69G5FAV, …", // a ULID
    "9m4e2mr0ui3e8a215n4g:shop, …:shop" // small letters and digits alone
  })
  void theValueOfAnotherLibrarysLockIsMasked(String value, String shown) {
    assertThat(LocksReport.Answer.of(status(value), List.of()).owner()).isEqualTo(shown);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "orders-7c9f8d6b5-x2x4k:17",
        "order_service_instance_01",
        "OrderServiceInstance01:4",
        "Johns-MacBook-Pro-2023.local:512",
        "ip-10-0-0-12.eu-west-1.compute.internal:17",
        "internationalization/service"
      })
  void theLabelOfAnotherProcessIsShown(String label) {
    assertThat(LocksReport.Answer.of(status(label), List.of()).owner()).isEqualTo(label);
  }

  @Test
  void noTokenOfOurOwnIsShownInAnyPlace() throws Exception {
    try (LockManager memory = LockManager.open("memory:");
        TestNodes nodes = TestNodes.start(1);
        LockManager redlock =
            LockManager.open("redlock:" + nodes.node(0).uri() + "?newNodes=trust")) {
      for (LockManager manager : List.of(memory, redlock)) {
        Lease lease = manager.acquire("a", TTL);
        String token = lease.token();
        String random = token.substring(token.lastIndexOf(':') + 1);
        for (String value : List.of(token, token + ":1", "x" + token, random, "lock-" + random)) {
          assertThat(LocksReport.Answer.of(status(value), List.of()).owner())
              .contains("…")
              .doesNotContain(random);
        }
        String transferred = lease.transfer(TTL);
        assertThat(LocksReport.Answer.of(status(transferred), List.of()).owner()).isEqualTo("…");
      }
    }
  }

  @Test
  void theLabelOfThisProcessIsShownAlsoIfItLooksRandom() throws Exception {
    String label = "9f86d081884c7d659a2feaa0c55ad015"; // such as the host of some clouds
    try (ConfigurableApplicationContext context = start(Application.class)) {
      LockManager locks = context.getBean(LockManager.class);
      Lease lease = locks.acquire(LockRequest.of("order-4711", TTL).ownerLabel(label));

      assertThat(get(context, "").at("/managers/lockManager/leases/0/owner").asString())
          .isEqualTo(label);
      assertThat(get(context, "/order-4711").at("/managers/lockManager/owner").asString())
          .isEqualTo(label);
      assertThat(lease.release()).isTrue();
    }
  }

  private static Optional<LockStatus> status(String label) {
    return Optional.of(new LockStatus("a", label, TTL, new LockVotes(2, 0, 1)));
  }

  @Test
  void aLockOfAManagerThatHidesItsLeasesIsShown() throws Exception {
    try (LockManager manager = LockManager.open("memory:")) {
      Lease lease = manager.acquire("a", TTL);

      LocksReport.OneLock answer =
          new LocksEndpoint(Map.of("hiding", hiding(manager))).lock(new String[] {"a"}, null);

      assertThat(Objects.requireNonNull(answer).managers().values())
          .extracting(LocksReport.Answer::held)
          .containsExactly(true);
      assertThat(lease.release()).isTrue();
    }
  }

  private static LockManager hiding(LockManager below) {
    return Fakes.of(
        LockManager.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("leases")) {
            throw new LockConfigurationException("a decorator has no leases");
          }
          return method.invoke(below, arguments);
        });
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class AHidingManager {
    @Bean
    LockManager orders() {
      return LockManager.open("memory:");
    }

    @Bean
    LockManager hidden(@Qualifier("orders") LockManager below) {
      return hiding(below);
    }
  }

  @Test
  void aManagerThatHidesItsLeasesDoesNotSpoilTheReportOfOthers() throws Exception {
    try (ConfigurableApplicationContext context = start(AHidingManager.class)) {
      JsonNode managers = get(context, "").at("/managers");

      assertThat(managers.at("/orders/nodes")).hasSize(1);
      assertThat(managers.at("/orders/failure").isMissingNode()).isTrue();
      assertThat(managers.at("/hidden/failure").asString()).isEqualTo("a decorator has no leases");
      assertThat(managers.at("/hidden/nodes").isMissingNode()).isTrue();
    }
  }

  @Test
  void noAnswerShowsAPasswordOrTheTokenOfALock() throws Exception {
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      assertThat(node.command("ACL", "SETUSER", "shop", "on", ">top-secret", "~*", "&*", "+@all"))
          .isEqualTo("OK");
      String ofAnotherLibrary = UUID.randomUUID().toString();
      assertThat(node.command("SET", "foreign", ofAnotherLibrary, "PX", "60000")).isEqualTo("OK");
      String url = "redlock:redis://shop:top-secret@" + node.address() + "?newNodes=trust";
      try (ConfigurableApplicationContext context =
          start(
              Application.class, UNRESTRICTED, "holdfast.url=" + url, "holdfast.close-grace=0s")) {
        Lease lease = context.getBean(LockManager.class).acquire("a", TTL);
        String random = lease.token().substring(lease.token().lastIndexOf(':') + 1);
        StringBuilder answers = new StringBuilder();
        for (String path : List.of("", "/a", "/foreign", "/free")) {
          answers.append(call(context, "GET", path).body());
        }
        node.kill();
        answers.append(call(context, "GET", "/a").body());
        answers.append(call(context, "DELETE", "/a").body());
        answers.append(call(context, "GET", "").body());

        assertThat(answers)
            .contains(node.address(), "\"failure\"", "\"owner\":\"…\"")
            .doesNotContain("top-secret", random, ofAnotherLibrary);
      }
    }
  }

  @Test
  void anOutageIsAnswered503AndIsNoFreeLock() throws Exception {
    try (ConfigurableApplicationContext context = start(Application.class, UNRESTRICTED)) {
      context.getBean(LockManager.class).unwrap(MemoryStore.class).orElseThrow().outage(true);

      for (String method : List.of("GET", "DELETE")) {
        HttpResponse<String> response = call(context, method, "/order-4711");
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("\"failure\"").doesNotContain("\"held\"");
      }
    }
  }

  @Test
  void aLockIsReleasedByForceOnlyWithUnrestrictedAccess() throws Exception {
    try (ConfigurableApplicationContext context = start(Application.class)) {
      Lease lease = context.getBean(LockManager.class).acquire("order-4711", TTL);
      assertThat(call(context, "DELETE", "/order-4711").statusCode()).isEqualTo(405);
      assertThat(get(context, "/order-4711").at("/managers/lockManager/held").asBoolean()).isTrue();
      assertThat(lease.release()).isTrue();
    }
    try (ConfigurableApplicationContext context = start(Application.class, UNRESTRICTED)) {
      Lease lease = context.getBean(LockManager.class).acquire("order-4711", TTL);

      HttpResponse<String> first = call(context, "DELETE", "/order-4711");
      HttpResponse<String> second = call(context, "DELETE", "/order-4711");

      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(json.readTree(first.body()).at("/released").asBoolean()).isTrue();
      assertThat(json.readTree(second.body()).at("/released").asBoolean()).isFalse();
      assertThat(lease.release()).as("it was taken away").isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({"unrestricted, 200", "read-only, 405"})
  void theAccessToAllEndpointsCountsForTheReleaseByForce(String maximum, int status)
      throws Exception {
    try (ConfigurableApplicationContext context =
        start(
            Application.class,
            "management.endpoints.access.default=unrestricted",
            "management.endpoints.access.max-permitted=" + maximum)) {
      assertThat(call(context, "DELETE", "/order-4711").statusCode()).isEqualTo(status);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /a, 200",
    "GET, /a?manager=users, 200",
    "GET, /a?manager=absent, 404",
    "DELETE, /a, 400",
    "DELETE, /a?manager=absent, 404",
    "DELETE, /a?manager=users, 200"
  })
  void oneOfSeveralManagersIsNamedByAParameter(String method, String path, int status)
      throws Exception {
    Lease ofOrders = several.getBean("orders", LockManager.class).acquire("a", TTL);
    Lease ofUsers = several.getBean("users", LockManager.class).acquire("a", TTL);

    assertThat(call(several, method, path).statusCode()).isEqualTo(status);

    assertThat(ofOrders.release()).isTrue();
    assertThat(ofUsers.release()).isEqualTo(!method.equals("DELETE") || status != 200);
  }

  @Test
  void theEndpointIsThereOnlyWhereItIsExposed() {
    ApplicationContextRunner contexts =
        Contexts.of(HoldfastAutoConfiguration.class, HoldfastEndpointAutoConfiguration.class)
            .withPropertyValues("holdfast.url=memory:");

    contexts.run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
    contexts
        .withPropertyValues("management.endpoints.web.exposure.include=locks")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LocksEndpoint.class)
                    .hasSingleBean(LocksEndpointWebExtension.class));
    contexts
        .withPropertyValues(
            "spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=locks")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LocksEndpoint.class)
                    .doesNotHaveBean(LocksEndpointWebExtension.class));
    contexts
        .withPropertyValues(
            "management.endpoints.web.exposure.include=locks",
            "management.endpoint.locks.access=NONE")
        .run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
  }

  @Test
  void aNameThatNoLockCanHaveIsABadRequest() throws Exception {
    String tooLong = "/" + "x".repeat(1025);

    assertThat(call(several, "GET", tooLong).statusCode()).isEqualTo(400);
    assertThat(call(several, "DELETE", tooLong + "?manager=users").statusCode()).isEqualTo(400);
  }
}
