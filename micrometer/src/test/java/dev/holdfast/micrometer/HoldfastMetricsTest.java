package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockListener;
import dev.holdfast.LockListener.Failure;
import dev.holdfast.LockListener.Renewal;
import dev.holdfast.LockListener.Vote;
import dev.holdfast.LockNode.State;
import dev.holdfast.LossReason;
import dev.holdfast.testsupport.Logs;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The meters for the events, nodes and leases of a scripted manager. */
class HoldfastMetricsTest {
  private static final String LOCK = "order-4711";

  private final ScriptedManager manager = new ScriptedManager();
  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final HoldfastMetrics metrics = new HoldfastMetrics(manager, "orders", Tags.empty());

  @Test
  void aGrantIsTimed() {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onGranted(LOCK, 1, 5_000_000, 3, 1));

    assertTimed(timer("holdfast.acquire", "outcome", "granted"), 5);
  }

  @ParameterizedTest
  @EnumSource
  void aRequestWithoutALockIsTimedByItsFailure(Failure failure) {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onNotGranted(LOCK, failure, 7_000_000));

    assertTimed(timer("holdfast.acquire", "outcome", lower(failure)), 7);
    assertThat(timer("holdfast.acquire", "outcome", "granted").count()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aRenewalIsTimedByItsOutcome(Renewal outcome) {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onRenewal(LOCK, 1, outcome, 2_000_000));

    assertTimed(timer("holdfast.renewal", "outcome", lower(outcome)), 2);
  }

  @Test
  void aHoldIsTimedByItsEnd() {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onReleased(LOCK, 1, 1_000_000, true));
    manager.report(listener -> listener.onLost(LOCK, 2, LossReason.EXPIRED, 2_000_000));
    manager.report(listener -> listener.onTransferred(LOCK, 3, 3_000_000));

    assertTimed(timer("holdfast.hold", "end", "released"), 1);
    assertTimed(timer("holdfast.hold", "end", "lost"), 2);
    assertTimed(timer("holdfast.hold", "end", "transferred"), 3);
  }

  @ParameterizedTest
  @EnumSource
  void aLossIsCountedByItsReason(LossReason reason) {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onLost(LOCK, 2, reason, 1));

    assertThat(registry.get("holdfast.lost").tag("reason", lower(reason)).counter().count())
        .isEqualTo(1);
    assertThat(registry.get("holdfast.lost").counters().stream().mapToDouble(c -> c.count()).sum())
        .isEqualTo(1);
  }

  @Test
  void anOverrunIsTimedAndIsThereBefore() {
    metrics.bindTo(registry);
    assertThat(registry.get("holdfast.overrun").timer().count()).isZero();

    manager.report(listener -> listener.onOverrun(LOCK, 2, 4_000_000));

    assertTimed(registry.get("holdfast.overrun").timer(), 4);
  }

  @ParameterizedTest
  @EnumSource
  void aVoteIsCountedByItsNode(Vote vote) {
    manager.nodes(ScriptedManager.node("h1", State.UP), ScriptedManager.node("h2", State.UP));
    metrics.bindTo(registry);

    manager.report(listener -> listener.onVote("h2", vote));
    manager.report(listener -> listener.onVote("h3", vote)); // a node that was not shown before

    assertThat(votes("h1", vote)).isZero();
    assertThat(votes("h2", vote)).isEqualTo(1);
    assertThat(votes("h3", vote)).isEqualTo(1);
  }

  @Test
  void theMarginOfEachGrantIsSummarized() {
    metrics.bindTo(registry);

    manager.report(listener -> listener.onGranted(LOCK, 1, 1, 5, 2));
    manager.report(listener -> listener.onGranted(LOCK, 2, 1, 3, 0));

    assertThat(registry.get("holdfast.quorum.margin").summary().count()).isEqualTo(2);
    assertThat(registry.get("holdfast.quorum.margin").summary().totalAmount()).isEqualTo(2);
    assertThat(registry.get("holdfast.quorum.margin").summary().max()).isEqualTo(2);
  }

  @Test
  void grantsAtMarginZeroHaveABucketOfTheirOwnInPrometheus() {
    PrometheusMeterRegistry prometheus = prometheus();
    metrics.bindTo(prometheus);

    manager.report(listener -> listener.onGranted(LOCK, 1, 1, 4, 1));
    manager.report(listener -> listener.onGranted(LOCK, 2, 1, 3, 0));
    manager.report(listener -> listener.onGranted(LOCK, 3, 1, 5, 2));

    assertThat(prometheus.scrape())
        .contains(
            "holdfast_quorum_margin_bucket{backend=\"unknown\",manager=\"orders\",le=\"0.5\"} 1\n")
        .contains("holdfast_quorum_margin_count{backend=\"unknown\",manager=\"orders\"} 3\n");
  }

  @Test
  void gaugesShowLeasesAndLoad() {
    manager.leases(4);
    metrics.bindTo(registry);

    manager.report(listener -> listener.onLoad(3, 2));

    assertThat(registry.get("holdfast.leases").gauge().value()).isEqualTo(4);
    assertThat(registry.get("holdfast.waiting").gauge().value()).isEqualTo(3);
    assertThat(registry.get("holdfast.inflight").gauge().value()).isEqualTo(2);
    manager.leases(1);
    assertThat(registry.get("holdfast.leases").gauge().value()).isEqualTo(1);
  }

  @Test
  void nodesAreCountedByTheirStateNow() {
    metrics.bindTo(registry);

    manager.nodes(
        ScriptedManager.node("h1", State.UP),
        ScriptedManager.node("h2", State.QUARANTINED),
        ScriptedManager.node("h3", State.DOWN),
        ScriptedManager.node("h4", State.UP));

    assertThat(Stream.of(State.values()).map(this::nodes)).containsExactly(2.0, 1.0, 1.0, 0.0);
  }

  @Test
  void countersAreThereBeforeTheFirstEvent() {
    PrometheusMeterRegistry prometheus = prometheus();
    metrics.bindTo(prometheus);

    assertThat(prometheus.scrape())
        .contains(
            "holdfast_lost_total{backend=\"unknown\",manager=\"orders\",reason=\"expired\"} 0")
        .contains(
            "holdfast_acquire_seconds_count{backend=\"unknown\",manager=\"orders\","
                + "outcome=\"outage\"} 0")
        .contains(
            "holdfast_node_votes_total{backend=\"unknown\",manager=\"orders\",node=\"h1\","
                + "vote=\"silent\"} 0");
  }

  @Test
  void everyMeterHasTheTagsOfTheManager() {
    new HoldfastMetrics(manager, "orders", Tags.of("region", "eu"))
        .withBackend("redlock")
        .bindTo(registry);
    reportEverything();

    assertThat(registry.getMeters())
        .allSatisfy(
            meter ->
                assertThat(meter.getId().getTags())
                    .contains(
                        Tag.of("manager", "orders"),
                        Tag.of("backend", "redlock"),
                        Tag.of("region", "eu")));
  }

  @Test
  void thereAreElevenMetersAndTheNameOfALockIsNoTag() {
    metrics.bindTo(registry);
    reportEverything();

    assertThat(registry.getMeters())
        .noneMatch(meter -> meter.getId().getTags().toString().contains(LOCK));
    assertThat(registry.getMeters().stream().map(meter -> meter.getId().getName()).distinct())
        .containsExactlyInAnyOrder(
            "holdfast.acquire",
            "holdfast.hold",
            "holdfast.lost",
            "holdfast.renewal",
            "holdfast.overrun",
            "holdfast.leases",
            "holdfast.waiting",
            "holdfast.inflight",
            "holdfast.quorum.margin",
            "holdfast.quorum.margin.histogram", // the simple registry's form of a bucket
            "holdfast.node.votes",
            "holdfast.nodes");
  }

  @Test
  void aFunctionMakesTagsOfNames() {
    metrics.withLockTag(name -> name.substring(0, name.indexOf('-'))).bindTo(registry);

    manager.report(listener -> listener.onGranted(LOCK, 1, 1_000_000, 3, 1));
    manager.report(listener -> listener.onGranted("order-9", 2, 1_000_000, 3, 1));
    manager.report(listener -> listener.onLost("user-1", 3, LossReason.TAKEN, 1));
    manager.report(listener -> listener.onOverrun("user-1", 3, 1));

    assertThat(registry.get("holdfast.overrun").timers()).hasSize(1);
    assertThat(registry.get("holdfast.overrun").tags("lock", "user").timer().count()).isEqualTo(1);
    assertThat(registry.get("holdfast.acquire").tags("lock", "order", "outcome", "granted").timer())
        .extracting(Timer::count)
        .isEqualTo(2L);
    assertThat(registry.get("holdfast.lost").tags("lock", "user").counter().count()).isEqualTo(1);
    assertThat(registry.get("holdfast.hold").tags("lock", "user").timer().count()).isEqualTo(1);
    assertThat(registry.find("holdfast.acquire").tag("lock", "").timer()).isNull();
  }

  @Test
  void aFunctionThatFailsIsLoggedOnceAndLosesNoCount() {
    Function<String, String> broken =
        name -> {
          throw new IllegalArgumentException("no hyphen");
        };
    metrics.withLockTag(broken).bindTo(registry);

    try (Logs logs = new Logs()) {
      manager.report(listener -> listener.onGranted(LOCK, 1, 1, 3, 1));
      manager.report(listener -> listener.onGranted(LOCK, 2, 1, 3, 1));
      assertThat(logs.warnings()).hasSize(1).first().asString().contains("correct the function");
    }
    assertThat(registry.get("holdfast.acquire").tag("lock", "unknown").timer().count())
        .isEqualTo(2);
  }

  @Test
  void aFunctionWithoutAnAnswerGivesUnknown() {
    metrics.withLockTag(name -> "").bindTo(registry);

    manager.report(listener -> listener.onGranted(LOCK, 1, 1, 3, 1));

    assertThat(registry.get("holdfast.acquire").tag("lock", "unknown").timer().count())
        .isEqualTo(1);
  }

  @Test
  void severalManagersShareARegistry() {
    PrometheusMeterRegistry prometheus = prometheus();
    ScriptedManager other = new ScriptedManager().leases(2);
    metrics.bindTo(prometheus);
    HoldfastMetrics others = new HoldfastMetrics(other, "users", Tags.empty());
    others.bindTo(prometheus);

    other.report(listener -> listener.onLost(LOCK, 1, LossReason.TAKEN, 1));

    String lost = "holdfast_lost_total{backend=\"unknown\",manager=\"%s\",reason=\"taken\"} %s";
    assertThat(prometheus.scrape())
        .contains(lost.formatted("orders", "0"))
        .contains(lost.formatted("users", "1"))
        .contains("holdfast_leases{backend=\"unknown\",manager=\"users\"} 2");
    others.close();
    assertThat(prometheus.scrape()).doesNotContain("users").contains(lost.formatted("orders", "0"));
  }

  @Test
  void aSecondManagerOfTheSameNameIsRefusedAndLeavesTheFirst() {
    ScriptedManager other = new ScriptedManager();
    metrics.bindTo(registry);
    List<Meter> before = registry.getMeters();

    assertThatThrownBy(() -> new HoldfastMetrics(other, "orders", Tags.empty()).bindTo(registry))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'orders'")
        .hasMessageContaining("a name of its own");

    assertThat(registry.getMeters()).containsExactlyInAnyOrderElementsOf(before);
    assertThat(other.listeners).isEmpty();
  }

  @Test
  void closingRemovesTheMetersAndTheListener() {
    MeterRegistry second = prometheus();
    metrics.bindTo(registry);
    metrics.bindTo(second);
    reportEverything();

    metrics.close();
    metrics.close();

    assertThat(registry.getMeters()).isEmpty();
    assertThat(second.getMeters()).isEmpty();
    assertThat(manager.listeners).isEmpty();
    assertThatThrownBy(() -> metrics.bindTo(registry))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("create new ones");
  }

  @Test
  void anEventDuringTheCloseLeavesNoMeter() {
    metrics.withLockTag(name -> name).bindTo(registry);
    HoldfastMetrics tagged = new HoldfastMetrics(manager, "tagged", Tags.empty());
    tagged.bindTo(registry);
    List<LockListener> inFlight = List.copyOf(manager.listeners);

    tagged.close();
    inFlight.get(1).onVote("h9", Vote.GRANTED);

    assertThat(registry.find("holdfast.node.votes").tag("manager", "tagged").counters()).isEmpty();
  }

  @Test
  void bindingTwiceCountsOnce() {
    metrics.bindTo(registry);
    metrics.bindTo(registry);

    manager.report(listener -> listener.onGranted(LOCK, 1, 1, 3, 1));

    assertThat(timer("holdfast.acquire", "outcome", "granted").count()).isEqualTo(1);
  }

  @Test
  void aBindingThatFailsLeavesNothingAndCanBeRepeated() {
    HoldfastMetrics refused =
        new HoldfastMetrics(new ScriptedManager().refuseListeners(), "orders", Tags.empty());

    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> refused.bindTo(registry)).hasMessage("the manager is closed");
      assertThat(registry.getMeters()).isEmpty();
    }
  }

  private void reportEverything() {
    manager.report(
        listener -> {
          listener.onGranted(LOCK, 1, 1, 3, 1);
          listener.onNotGranted(LOCK, Failure.OUTAGE, 1);
          listener.onRenewal(LOCK, 1, Renewal.EXTENDED, 1);
          listener.onReleased(LOCK, 1, 1, true);
          listener.onTransferred(LOCK, 2, 1);
          listener.onLost(LOCK, 3, LossReason.TAKEN, 1);
          listener.onOverrun(LOCK, 3, 1);
          listener.onVote("h1", Vote.SILENT);
          listener.onNode("h1", State.DOWN, "gone");
          listener.onLoad(1, 1);
        });
  }

  private Timer timer(String name, String key, String value) {
    return registry.get(name).tag(key, value).timer();
  }

  private double votes(String node, Vote vote) {
    return registry
        .get("holdfast.node.votes")
        .tags("node", node, "vote", lower(vote))
        .counter()
        .count();
  }

  private double nodes(State state) {
    return registry.get("holdfast.nodes").tag("state", lower(state)).gauge().value();
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static void assertTimed(Timer timer, int millis) {
    assertThat(timer.count()).isEqualTo(1);
    assertThat(timer.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(millis);
  }

  private static PrometheusMeterRegistry prometheus() {
    return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  }
}
