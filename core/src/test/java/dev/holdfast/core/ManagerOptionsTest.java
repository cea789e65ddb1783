package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManagerOptionsTest {
  private final ManualTime time = new ManualTime();
  private final RandomGenerator random = new Random(1);
  private final Executor callbacks = Runnable::run;
  private final LockListener one = new LockListener() {};
  private final LockListener other = new LockListener() {};

  @Test
  void eachChangeKeepsAllOtherOptions() {
    ManagerOptions all =
        ManagerOptions.defaults()
            .clock(time)
            .scheduler(time)
            .random(random)
            .callbacks(callbacks)
            .retryDelay(Duration.ofMillis(1))
            .maxTtl(Duration.ofSeconds(2))
            .ownerLabel("me")
            .listener(one)
            .listener(other);

    assertHasAll(all);
    assertHasAll(
        ManagerOptions.defaults()
            .listener(one)
            .listener(other)
            .ownerLabel("me")
            .maxTtl(Duration.ofSeconds(2))
            .retryDelay(Duration.ofMillis(1))
            .callbacks(callbacks)
            .random(random)
            .scheduler(time)
            .clock(time));
  }

  private void assertHasAll(ManagerOptions options) {
    assertThat(options.clock()).isSameAs(time);
    assertThat(options.scheduler()).containsSame(time);
    assertThat(options.random()).containsSame(random);
    assertThat(options.callbacks()).containsSame(callbacks);
    assertThat(options.retryDelay()).isEqualTo(Duration.ofMillis(1));
    assertThat(options.maxTtl()).isEqualTo(Duration.ofSeconds(2));
    assertThat(options.ownerLabel()).isEqualTo("me");
    assertThat(options.listeners()).containsExactly(one, other);
  }

  @Test
  void settingsOfAProgramAreAddedToTheOptions() {
    InstantSource wall = InstantSource.fixed(Instant.EPOCH.plusSeconds(1));
    OpenSettings settings =
        OpenSettings.none().callbackExecutor(callbacks).wallClock(wall).listener(other);

    ManagerOptions applied = ManagerOptions.defaults().listener(one).apply(settings);

    assertThat(applied.callbacks()).containsSame(callbacks);
    assertThat(applied.clock().wallMicros()).isEqualTo(1_000_000);
    assertThat(-System.nanoTime() + applied.clock().nanos()).isBetween(0L, 10_000_000_000L);
    assertThat(applied.listeners()).containsExactly(one, other);
    assertThat(applied.apply(OpenSettings.none())).isSameAs(applied);
  }

  @Test
  void changesLeaveTheOriginalUnchanged() {
    ManagerOptions original = ManagerOptions.defaults();
    ManagerOptions changed = original.managerOptions(options -> options.ownerLabel("me"));

    assertThat(changed.ownerLabel()).isEqualTo("me");
    assertThat(original.ownerLabel()).endsWith(":" + ProcessHandle.current().pid());
  }

  @Test
  void aUrlChangesOnlyTheOptionsThatItHas() {
    ManagerOptions own =
        ManagerOptions.defaults().retryDelay(Duration.ofMillis(10)).ownerLabel("me");

    ManagerOptions unchanged = own.read(url(Map.of("owner", "")));
    assertThat(unchanged.retryDelay()).isEqualTo(Duration.ofMillis(10));
    assertThat(unchanged.maxTtl()).isEqualTo(ManagerOptions.DEFAULT_MAX_TTL);
    assertThat(unchanged.ownerLabel()).isEqualTo("me");

    ManagerOptions changed =
        own.read(url(Map.of("retryDelay", "1h", "maxTtl", "365d", "owner", "you")));
    assertThat(changed.retryDelay()).isEqualTo(Duration.ofHours(1));
    assertThat(changed.maxTtl()).isEqualTo(ManagerOptions.LONGEST_MAX_TTL);
    assertThat(changed.ownerLabel()).isEqualTo("you");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          retryDelay | 0s   | option retryDelay: '0s' is out of range: give more than zero, up to 1h
          retryDelay | 61m  | option retryDelay: '61m' is out of range: give more than zero, up to 1h
          maxTtl     | 0s   | option maxTtl: '0s' is out of range: give more than zero, up to 365 days
          maxTtl     | 366d | option maxTtl: '366d' is out of range: give more than zero, up to 365 days
          """)
  @Rule("ERR-4")
  @DisplayName("a URL's value that is out of range is shown where it stands")
  void aValueOutOfRangeIsShown(String option, String value, String message) {
    assertThatThrownBy(() -> ManagerOptions.defaults().read(url(Map.of(option, value))))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(message);
  }

  @Test
  void namesAreThoseOfAllManagersAndThoseOfTheBackend() {
    assertThat(ManagerOptions.namesAnd("unit"))
        .containsExactlyInAnyOrder("retryDelay", "maxTtl", "owner", "unit");
  }

  private static LockUrl url(Map<String, String> options) {
    return LockUrl.parse("x:", options);
  }
}
