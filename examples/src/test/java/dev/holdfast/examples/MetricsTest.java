package dev.holdfast.examples;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The alerts that fire while one node of five after another is frozen under a few workers. */
class MetricsTest {
  private static final Duration TTL = Duration.ofSeconds(5);
  private static final String OUTAGE = "HoldfastOutage";
  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final Pattern REQUESTS =
      Pattern.compile("(?m)^holdfast_acquire_seconds_count\\{.*} (\\S+)$");

  /** Requests between two scrapes, so that one late node decides nothing. */
  private static final int WINDOW = 20;

  private final List<ScheduledExecutorService> workers = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private final TestNodes nodes = TestNodes.start(5);
  private final LockManager locks =
      LockManager.open("redlock:lettuce:" + String.join(",", nodes.uris()));
  private final Metrics metrics;
  private final AlertRules rules = AlertRules.read(Path.of("../docs/metrics/alerts.yml"));

  MetricsTest() throws IOException {
    metrics = Metrics.expose(locks, "orders", 0);
  }

  @BeforeEach
  void work() {
    for (int i = 0; i < 3; i++) {
      workers.add(Metrics.work(locks, LockRequest.of("order-" + i, TTL), PAUSE));
    }
  }

  @AfterEach
  void close() throws InterruptedException {
    for (ScheduledExecutorService worker : workers) {
      worker.shutdownNow();
      assertThat(worker.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
    metrics.close();
    locks.close();
    nodes.close();
  }

  @Test
  void theMarginFallsToZeroBeforeTheThirdNodeOfFiveCausesAnOutage() throws Exception {
    Lease job = locks.acquire(LockRequest.of("job", TTL).keepAliveUpTo(Duration.ofHours(1)));
    assertThat(scrape())
        .contains("holdfast_nodes{backend=\"redlock\",manager=\"orders\",state=\"up\"} 5");
    awaitFiring();

    nodes.node(0).freeze();
    awaitState("down", 1);
    awaitFiring();

    nodes.node(1).freeze();
    awaitState("down", 2);
    awaitFiring("HoldfastQuorumMarginZero");
    assertThat(job.isHeld()).isTrue();

    nodes.node(2).freeze();
    assertThat(job.onLoss())
        .succeedsWithin(Duration.ofSeconds(20))
        .isEqualTo(LossReason.UNREACHABLE);
    awaitFiring(OUTAGE);

    nodes.node(1).thaw();
    nodes.node(2).thaw();
    awaitState("down", 1);
    awaitFiring();
  }

  @Test
  void anOutageFiresAlthoughEveryRequestWaitsForever() throws Exception {
    for (ScheduledExecutorService worker : workers) {
      worker.shutdown();
      assertThat(worker.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
    workers.clear();
    LockRequest waiting = LockRequest.of("waiting", TTL).waitForever();
    workers.add(Metrics.work(locks, waiting, PAUSE));
    awaitFiring();

    for (int node = 0; node < 3; node++) {
      nodes.node(node).freeze();
    }
    awaitState("down", 3);
    String before = scrape();
    soon().untilAsserted(() -> assertThat(rules.firing(before, scrape())).contains(OUTAGE));
    assertThat(requests(scrape())).as("requests that ended").isEqualTo(requests(before));
  }

  @Test
  void aLossFires() throws Exception {
    String before = scrape();
    Lease job = locks.acquire(LockRequest.of("job", TTL).keepAliveUpTo(Duration.ofHours(1)));

    assertThat(locks.forceRelease("job")).isTrue();

    assertThat(job.onLoss()).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(LossReason.REMOVED);
    soon()
        .untilAsserted(
            () -> assertThat(rules.firing(before, scrape())).containsExactly("HoldfastLeaseLost"));
  }

  private void awaitState(String state, int count) {
    String line = "state=\"" + state + "\"} " + count + ".0\n";
    soon().untilAsserted(() -> assertThat(scrape()).contains(line));
  }

  /** Waits until between two scrapes just these alerts fire. */
  private void awaitFiring(String... alerts) {
    List<String> before = new ArrayList<>(List.of(scrape()));
    soon()
        .untilAsserted(
            () -> {
              String after = scrape();
              double requests = requests(after) - requests(before.get(0));
              assertThat(requests).isGreaterThanOrEqualTo(WINDOW);
              String window = before.set(0, after);
              assertThat(rules.firing(window, after)).containsExactly(alerts);
            });
  }

  private static double requests(String scrape) {
    return REQUESTS
        .matcher(scrape)
        .results()
        .mapToDouble(match -> Double.parseDouble(match.group(1)))
        .sum();
  }

  private String scrape() {
    try {
      return http.send(
              HttpRequest.newBuilder(URI.create(metrics.url())).build(), BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
