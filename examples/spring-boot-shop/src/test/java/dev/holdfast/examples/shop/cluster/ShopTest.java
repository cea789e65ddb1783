package dev.holdfast.examples.shop.cluster;

import static dev.holdfast.testsupport.Eventually.soon;
import static dev.holdfast.testsupport.Eventually.within;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.testnodes.TestNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Three instances in processes of their own, one of which is killed, on nodes that freeze. Their
 * output is in {@code target/shop-test}.
 */
@Tag("slow")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ShopTest {
  private static final Path LOGS = Path.of("target", "shop-test");
  private static final Duration REPORT_PERIOD = Duration.ofSeconds(5);
  private static final Duration REPORT_HOLD = Duration.ofSeconds(4);

  /**
   * The smallest time between two reports. Their grants are {@link #REPORT_HOLD} apart, but an
   * instance that stalls between its grant and its insert brings its report nearer to the next one:
   * 2 s are left for that. Two reports of one period would be milliseconds apart.
   */
  private static final Duration REPORT_MIN_DISTANCE = REPORT_HOLD.minusSeconds(2);

  /** Covers three periods, and the ttl of 30 s if the killed instance was writing a report. */
  private static final Duration REPORT_LIMIT = Duration.ofMinutes(1);

  /** Covers the ttl of 2 s, or a few failed requests. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final Duration REQUEST_LIMIT = Duration.ofMinutes(1);
  private static final Duration SLOW_PACKING = Duration.ofHours(1);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Shop shop;

  ShopTest() throws Exception {
    shop = Shop.start(); // stops what it started if it fails, because no @AfterAll follows then
  }

  @AfterAll
  void stop() throws Exception {
    shop.close();
  }

  @Test
  void anOrderIsShippedOnceWhenSeveralInstancesAreAskedAtTheSameTime() throws Exception {
    String order = place();
    List<CompletableFuture<HttpResponse<String>>> answers =
        Stream.of(shop.first, shop.second, shop.first, shop.second)
            .map(url -> shipAsync(url, order, REQUEST_LIMIT))
            .toList();
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
    try (Lease held = shop.operator.acquire(request)) {
      HttpResponse<String> answer = ship(shop.first, order);
      assertThat(answer.statusCode()).isEqualTo(409);
      assertThat(answer.body()).contains("operator ships this order now");
      soon().until(() -> overview(shop.second).contains("\"holder\":\"operator\""));
      held.requireHeld();
    }
    assertThat(ship(shop.first, order).statusCode()).isEqualTo(200);
  }

  @Test
  void anotherInstanceShipsTheOrderOfAnInstanceThatIsKilled() throws Exception {
    String order = place();
    CompletableFuture<HttpResponse<String>> unanswered =
        shipAsync(shop.slowUrl, order, SLOW_PACKING);
    soon().until(() -> holder(order).equals("shop-slow"));
    assertThat(ship(shop.second, order).statusCode()).isEqualTo(409);

    shop.slow.kill();
    assertThat(unanswered).failsWithin(LIMIT).withThrowableOfType(ExecutionException.class);
    within(LIMIT).until(() -> ship(shop.second, order).statusCode() == 200);
    assertThat(shippedBy(order)).isEqualTo("shop-2");
    assertThat(parcels(order)).isEqualTo("1");
  }

  @Test
  void ordersAreShippedWhileOneNodeIsFrozenAndRefusedWhileTwoAre() throws Exception {
    List<TestNode> nodes = shop.cluster.nodes().all();
    String shipped = place();
    String refused = place();
    try {
      nodes.get(0).freeze();
      within(LIMIT).until(() -> ship(shop.first, shipped).statusCode() == 200);

      nodes.get(1).freeze();
      HttpResponse<String> answer = ship(shop.first, refused);
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains(nodes.get(1).address());
      assertThat(get(shop.first, "/actuator/health").statusCode()).isEqualTo(503);
      soon().until(() -> overview(shop.first).contains("\"outage\":\""));
      assertThat(parcels(refused)).isEqualTo("0");
    } finally {
      nodes.get(0).thaw();
      nodes.get(1).thaw();
    }
    within(LIMIT).until(() -> ship(shop.first, refused).statusCode() == 200);
    within(LIMIT).until(() -> get(shop.first, "/actuator/health").statusCode() == 200);
    assertThat(parcels(refused)).isEqualTo("1");
  }

  @Test
  void aHolderWhoseFencingTokenIsTooOldIsRefusedAndRolledBack() throws Exception {
    String order = place();
    value(
        "select fence from final table (update orders set fence = ? where id = ?)",
        Long.MAX_VALUE,
        order);
    HttpResponse<String> answer = ship(shop.first, order);
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body()).contains("a later holder of the lock has written order " + order);
    assertThat(parcels(order)).isEqualTo("0");
  }

  @Test
  void oneInstanceWritesTheReportOfEachPeriod() {
    within(REPORT_LIMIT).until(() -> Integer.parseInt(value("select count(*) from reports")) >= 3);
    String smallestDistance =
        value(
            "select min(datediff(millisecond, previous, written_at)) from"
                + " (select written_at, lag(written_at) over (order by written_at) as previous"
                + " from reports)");
    assertThat(Duration.ofMillis(Long.parseLong(smallestDistance)))
        .isGreaterThan(REPORT_MIN_DISTANCE);
  }

  @Test
  void thePageIsServedByEachInstance() throws Exception {
    assertThat(get(shop.first, "/").body()).contains("<h1>Shop");
    assertThat(get(shop.second, "/").body()).contains("<h1>Shop");
    assertThat(get(shop.first, "/actuator/locks").body()).contains("\"leases\"");
  }

  @Test
  void anInstanceWhoseActuatorHasAPortOfItsOwnIsFoundAtItsPage() {
    assertThat(value("select url from instances where name = 'shop-2'")).isEqualTo(shop.second);
  }

  private String place() throws Exception {
    HttpResponse<String> answer =
        http.send(
            post(shop.first + "/api/orders?item=book", REQUEST_LIMIT), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body().replaceAll(".*\"id\":(\\d+).*", "$1");
  }

  private HttpResponse<String> ship(String url, String order) throws Exception {
    return http.send(post(shipUrl(url, order), REQUEST_LIMIT), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> shipAsync(
      String url, String order, Duration limit) {
    return http.sendAsync(post(shipUrl(url, order), limit), BodyHandlers.ofString());
  }

  private String overview(String url) throws Exception {
    return get(url, "/api/overview").body();
  }

  private HttpResponse<String> get(String url, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create(url + path)).timeout(REQUEST_LIMIT).build(),
        BodyHandlers.ofString());
  }

  private static HttpRequest post(String url, Duration limit) {
    return HttpRequest.newBuilder(URI.create(url))
        .POST(HttpRequest.BodyPublishers.noBody())
        .timeout(limit)
        .build();
  }

  private static String shipUrl(String url, String order) {
    return url + "/api/orders/" + order + "/ship";
  }

  private String holder(String order) {
    return shop.operator.inspect("order-" + order).map(LockStatus::ownerLabel).orElse("");
  }

  private String parcels(String order) {
    return value("select count(*) from parcels where order_id = ?", order);
  }

  private String shippedBy(String order) {
    return value("select shipped_by from orders where id = ?", order);
  }

  private String value(String sql, Object... parameters) {
    return shop.cluster.database().query(sql, parameters).orElseThrow();
  }

  /**
   * Three instances, and an operator who looks at their locks.
   *
   * @param slow the instance that is killed: its packing takes an hour
   */
  private record Shop(
      ShopCluster cluster,
      LockManager operator,
      String first,
      String second,
      ShopInstance slow,
      String slowUrl)
      implements AutoCloseable {

    static Shop start() throws Exception {
      ShopCluster cluster = ShopCluster.start(LOGS);
      try {
        ShopInstance one = start(cluster, "shop-1", "shop.packing-time=100ms");
        ShopInstance two =
            start(cluster, "shop-2", "shop.packing-time=100ms", "management.server.port=0");
        ShopInstance slow = start(cluster, "shop-slow", "shop.packing-time=" + SLOW_PACKING);
        String first = cluster.awaitUrl(one);
        String second = cluster.awaitUrl(two);
        String slowUrl = cluster.awaitUrl(slow);
        String nodes = String.join(",", cluster.nodes().uris());
        LockManager operator =
            LockManager.open("redlock:lettuce:" + nodes + "?newNodes=trust&owner=operator");
        return new Shop(cluster, operator, first, second, slow, slowUrl);
      } catch (Throwable e) {
        try (cluster) { // closes it
          throw e;
        }
      }
    }

    private static ShopInstance start(ShopCluster cluster, String name, String... properties)
        throws IOException {
      List<String> all = new ArrayList<>(List.of(properties));
      all.add("shop.report.cron=*/" + REPORT_PERIOD.toSeconds() + " * * * * *");
      all.add("shop.report.hold-at-least=" + REPORT_HOLD.toSeconds() + "s");
      return cluster.startInstance(name, all.toArray(String[]::new));
    }

    @Override
    public void close() throws SQLException {
      try (cluster) { // closes it
        operator.close();
      }
    }
  }
}
