package dev.holdfast.tck.env;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UrlEnvironmentTest {
  @Test
  void eachEnvironmentHasANameOfItsOwnWhereTheUrlAsksForOne() {
    TckEnvironment one = TckEnvironment.ofUrl("mine:{name}?some=option", true, Map.of());
    TckEnvironment other = TckEnvironment.ofUrl("mine:{name}?some=option", true, Map.of());

    assertThat(one.url().orElseThrow()).matches("mine:tck-[-0-9a-f]{36}\\?some=option");
    assertThat(one.url()).isNotEqualTo(other.url());
    assertThat(one.isIsolated()).isTrue();
    assertThat(one.isInProcess()).isTrue();
  }

  @Test
  void theClockOfManagersCanBeSetWhereTheBackendTakesOne() throws InterruptedException {
    TckEnvironment environment = TckEnvironment.ofUrl("memory:");
    Duration ttl = Duration.ofSeconds(30);
    try (LockManager locks = environment.open(Map.of())) {
      Lease lease = locks.tryAcquire("a", ttl).orElseThrow();

      environment.clock().orElseThrow().step(ttl);

      assertThat(lease.isHeld()).isFalse();
    }
    assertThat(TckEnvironment.ofUrl("memory:{name}").clock()).isEmpty();
    assertThat(TckEnvironment.ofUrl("mine:").clock()).isEmpty();
  }

  @Test
  void aUrlWithoutSuchANameIsSharedByAllEnvironments() {
    TckEnvironment environment = TckEnvironment.ofUrl("mine:somewhere");

    assertThat(environment.url()).contains("mine:somewhere");
    assertThat(environment.isIsolated()).isFalse();
    assertThat(environment.isInProcess()).isFalse();
  }
}
