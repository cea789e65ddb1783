package dev.holdfast.micrometer;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The series of Prometheus for real locks in memory. */
class HoldfastMetricsOnMemoryTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final ManualClock clock = new ManualClock();
  @AutoClose private final LockManager locks = MemoryLocks.builder().clock(clock).open();

  @BeforeEach
  void bind() {
    new HoldfastMetrics(locks, "m", Tags.empty()).bindTo(registry);
  }

  @Test
  void aLockIsCountedFromItsGrantToItsRelease() throws Exception {
    try (Lease lease = locks.acquire("a", TTL)) {
      assertThat(locks.tryAcquire("a", TTL)).isEmpty();
      clock.advance(Duration.ofSeconds(2));
      lease.requireHeld();
      awaitSeries("holdfast_leases{backend=\"memory\",manager=\"m\"} 1");
    }

    awaitSeries("holdfast_leases{backend=\"memory\",manager=\"m\"} 0");
    awaitSeries(
        "holdfast_acquire_seconds_count{backend=\"memory\",manager=\"m\",outcome=\"granted\"} 1");
    awaitSeries(
        "holdfast_acquire_seconds_count{backend=\"memory\",manager=\"m\",outcome=\"contended\"} 1");
    awaitSeries("holdfast_hold_seconds_sum{backend=\"memory\",end=\"released\",manager=\"m\"} 2.0");
    awaitSeries("holdfast_nodes{backend=\"memory\",manager=\"m\",state=\"up\"} 1");
    awaitSeries("holdfast_waiting{backend=\"memory\",manager=\"m\"} 0");
    awaitSeries("holdfast_inflight{backend=\"memory\",manager=\"m\"} 0");
    assertThat(registry.scrape()).containsPattern("holdfast_node_votes_total\\{.*granted\"} [1-9]");
  }

  @Test
  void aRenewalAndALossAreCounted() throws Exception {
    Lease lease = locks.acquire(LockRequest.of("a", TTL).keepAliveUpTo(TTL.multipliedBy(2)));

    clock.advance(TTL);
    awaitSeries(
        "holdfast_renewal_seconds_count{backend=\"memory\",manager=\"m\",outcome=\"extended\"} ");
    clock.advance(TTL.multipliedBy(2));

    assertThat(lease.isHeld()).isFalse();
    awaitSeries("holdfast_lost_total{backend=\"memory\",manager=\"m\",reason=\"max_hold\"} 1");
    awaitSeries("holdfast_hold_seconds_count{backend=\"memory\",end=\"lost\",manager=\"m\"} 1");
  }

  @Test
  void anOutageIsCounted() {
    locks.unwrap(MemoryStore.class).orElseThrow().outage(true);

    assertThatThrownBy(() -> locks.tryAcquire("a", TTL)).isInstanceOf(LockOutageException.class);

    awaitSeries(
        "holdfast_acquire_seconds_count{backend=\"memory\",manager=\"m\",outcome=\"outage\"} 1");
  }

  private void awaitSeries(String start) {
    soon().untilAsserted(() -> assertThat(registry.scrape()).contains(start));
  }
}
