package dev.holdfast.examples.shop.cluster;

import static dev.holdfast.testsupport.Eventually.soon;
import static dev.holdfast.testsupport.Eventually.within;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.testnodes.TestNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Three instances in processes of their own, one of which is killed, on nodes that freeze. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ShopTest {
  private static final Duration REPORT_PERIOD = Duration.ofSeconds(2);

  /** Covers the ttl of 2 s, or a few failed requests. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final HttpClient http = HttpClient.newHttpClient();
  private final ShopCluster cluster = ShopCluster.start();
  private final String first;
  private final String second;

  /** The instance that is killed: its packing never ends. */
  private final ShopInstance slow;

  private final String slowUrl;
  private final LockManager operator;

  ShopTest() throws Exception {
    ShopInstance one = start("shop-1", "100ms");
    ShopInstance two = start("shop-2", "100ms");
    slow = start("shop-slow", "1h");
    first = cluster.awaitUrl(one);
    second = cluster.awaitUrl(two);
    slowUrl = cluster.awaitUrl(slow);
    operator =
        LockManager.open(
            "redlock:lettuce:"
                + String.join(",", cluster.nodes().uris())
                + "?newNodes=trust&owner=operator");
  }

  @AfterAll
  void stop() throws Exception {
    operator.close();
    cluster.stop();
  }

  @Test
  void anOrderIsShippedOnceWhenAllInstancesAreAskedAtTheSameTime() throws Exception {
    String order = place();
    List<CompletableFuture<HttpResponse<String>>> answers =
        Stream.of(first, second, first, second).map(url -> shipAsync(url, order)).toList();
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      assertThat(answer.get().statusCode()).as(answer.get().body()).isIn(200, 409);
    }
    assertThat(answers).anyMatch(answer -> answer.join().statusCode() == 200);
    assertThat(parcels(order)).isEqualTo("1");
  }

  @Test
  void anOrderThatAnotherOwnerHoldsIsRefusedWithTheNameOfTheHolder() throws Exception {
    String order = place();
    LockRequest request = LockRequest.of("order-" + order, Duration.ofSeconds(30));
    try (Lease held = operator.acquire(request)) {
      HttpResponse<String> answer = ship(first, order);
      assertThat(answer.statusCode()).isEqualTo(409);
      assertThat(answer.body()).contains("operator ships this order now");
      assertThat(get(second, "/api/overview").body()).contains("\"holder\":\"operator\"");
      held.requireHeld();
    }
    assertThat(ship(first, order).statusCode()).isEqualTo(200);
  }

  @Test
  void anotherInstanceShipsTheOrderOfAnInstanceThatIsKilled() throws Exception {
    String order = place();
    CompletableFuture<HttpResponse<String>> unanswered = shipAsync(slowUrl, order);
    soon().until(() -> holder(order).equals("shop-slow"));
    assertThat(ship(second, order).statusCode()).isEqualTo(409);

    slow.kill();
    assertThat(unanswered).failsWithin(LIMIT).withThrowableOfType(ExecutionException.class);
    within(LIMIT).until(() -> ship(second, order).statusCode() == 200);
    assertThat(shippedBy(order)).isEqualTo("shop-2");
    assertThat(parcels(order)).isEqualTo("1");
  }

  @Test
  void ordersAreShippedWhileOneNodeIsFrozenAndRefusedWhileTwoAre() throws Exception {
    List<TestNode> nodes = cluster.nodes().all();
    String shipped = place();
    String refused = place();
    try {
      nodes.get(0).freeze();
      within(LIMIT).until(() -> ship(first, shipped).statusCode() == 200);

      nodes.get(1).freeze();
      HttpResponse<String> answer = ship(first, refused);
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains(nodes.get(1).address());
      assertThat(get(first, "/actuator/health").statusCode()).isEqualTo(503);
      assertThat(get(first, "/api/overview").body()).contains("\"outage\":\"");
      assertThat(parcels(refused)).isEqualTo("0");
    } finally {
      nodes.get(0).thaw();
      nodes.get(1).thaw();
    }
    within(LIMIT).until(() -> ship(first, refused).statusCode() == 200);
    within(LIMIT).until(() -> get(first, "/actuator/health").statusCode() == 200);
    assertThat(parcels(refused)).isEqualTo("1");
  }

  @Test
  void oneInstanceWritesTheReportOfEachPeriod() {
    within(LIMIT).until(() -> Integer.parseInt(value("select count(*) from reports")) >= 3);
    long count = Long.parseLong(value("select count(*) from reports"));
    long seconds =
        Long.parseLong(
            value("select datediff(second, min(written_at), max(written_at)) from reports"));
    assertThat(count - 1)
        .as("reports in %d s after the first", seconds)
        .isLessThanOrEqualTo(seconds / REPORT_PERIOD.toSeconds() + 1);
  }

  @Test
  void thePageIsServedByEachInstance() throws Exception {
    assertThat(get(first, "/").body()).contains("<h1>Shop");
    assertThat(get(second, "/").body()).contains("<h1>Shop");
    assertThat(get(second, "/actuator/locks").body()).contains("\"leases\"");
  }

  private ShopInstance start(String name, String packingTime) throws Exception {
    return cluster.startInstance(
        name,
        0,
        "shop.packing-time=" + packingTime,
        "shop.report.cron=*/" + REPORT_PERIOD.toSeconds() + " * * * * *",
        "shop.report.hold-at-least=1s");
  }

  private String place() throws Exception {
    HttpResponse<String> answer =
        http.send(post(first + "/api/orders?item=book"), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body().replaceAll(".*\"id\":(\\d+).*", "$1");
  }

  private HttpResponse<String> ship(String url, String order) throws Exception {
    return http.send(post(url + "/api/orders/" + order + "/ship"), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> shipAsync(String url, String order) {
    return http.sendAsync(post(url + "/api/orders/" + order + "/ship"), BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String url, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofString());
  }

  private static HttpRequest post(String url) {
    return HttpRequest.newBuilder(URI.create(url))
        .POST(HttpRequest.BodyPublishers.noBody())
        .timeout(Duration.ofHours(1))
        .build();
  }

  private String holder(String order) {
    return operator.inspect("order-" + order).map(LockStatus::ownerLabel).orElse("");
  }

  private String parcels(String order) {
    return value("select count(*) from parcels where order_id = ?", order);
  }

  private String shippedBy(String order) {
    return value("select shipped_by from orders where id = ?", order);
  }

  private String value(String sql, Object... parameters) {
    return cluster.database().query(sql, parameters).orElseThrow();
  }
}
