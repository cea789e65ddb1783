package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import dev.holdfast.tck.MemoryEnvironment;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A test that has taken too long is interrupted, and must not spoil those that come after it. */
class TckFixtureTest {
  private final MemoryEnvironment environment = new MemoryEnvironment();
  private final TckFixture fixture = new TckFixture(environment, Set.of());

  @AfterEach
  void close() {
    Thread.interrupted();
    environment.close();
  }

  @Test
  void nothingIsOpenedOrBegunAfterItsEnd() {
    fixture.close();

    assertThatThrownBy(fixture::open).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), ""))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theLastActionAtTheEndIsDoneFirst() {
    StringBuilder done = new StringBuilder();
    fixture.atEnd(() -> done.append("first"));
    fixture.atEnd(() -> done.append("last, "));

    fixture.close();

    assertThat(done).hasToString("last, first");
  }

  @Test
  void aTaskThatFailsAtTheEndFailsNoTestAndStopsNoOther() {
    AtomicInteger done = new AtomicInteger();
    fixture.atEnd(done::incrementAndGet);
    fixture.atEnd(
        () -> {
          throw new IllegalStateException("it does not close");
        });

    fixture.close();

    assertThat(done).hasValue(1);
  }

  @Test
  void aClockThatWasMovedIsMovedBackAtTheEnd() {
    AtomicReference<Duration> moved = new AtomicReference<>(Duration.ZERO);
    TckEnvironment withClock =
        new TckEnvironment() {
          @Override
          public LockManager open(Map<String, String> options) {
            return environment.open(options);
          }

          @Override
          public Optional<TckClock> clock() {
            return Optional.of(by -> moved.accumulateAndGet(by, Duration::plus));
          }
        };
    TckFixture moving = new TckFixture(withClock, Set.of());
    Needs.clock(moving).step(Duration.ofHours(1));
    moving.restart();
    Needs.clock(moving).step(Duration.ofHours(-2));
    Needs.clock(moving).step(Duration.ofMinutes(1));

    moving.close();

    assertThat(moved).hasValue(Duration.ZERO);
  }

  @Test
  void closedOnceMoreItSparesTheTestThatHasTheEnvironmentThen() {
    AtomicInteger resets = new AtomicInteger();
    TckEnvironment counting =
        new TckEnvironment() {
          @Override
          public LockManager open(Map<String, String> options) {
            return environment.open(options);
          }

          @Override
          public void reset() {
            resets.incrementAndGet();
          }
        };
    TckFixture ended = new TckFixture(counting, Set.of());

    ended.close();
    ended.close();

    assertThat(resets).hasValue(1);
  }

  @Test
  void aRegardlessActionKeepsAnInterrupt() {
    TckFixture.regardless(
        () -> {
          throw new InterruptedException();
        });

    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void anInterruptedThreadTriesNothingAnyMore() {
    for (Eventually.Assertions once :
        List.<Eventually.Assertions>of(
            () -> {
              throw new InterruptedException();
            },
            () -> {
              Thread.currentThread().interrupt();
              fixture.soon().until("it never is", () -> false);
            },
            () ->
                fixture
                    .soon()
                    .until(
                        "it is thrown",
                        () -> {
                          throw new InterruptedException();
                        }))) {
      AtomicInteger tries = new AtomicInteger();

      assertThatThrownBy(
              () ->
                  Retries.anyOf(
                      () -> {
                        tries.incrementAndGet();
                        once.run();
                      }))
          .isInstanceOf(AssertionError.class);

      assertThat(tries).hasValue(1);
      assertThat(Thread.interrupted()).as("the flag").isTrue();
    }
  }
}
