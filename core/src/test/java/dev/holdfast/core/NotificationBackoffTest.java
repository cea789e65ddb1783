package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NotificationBackoffTest {
  private static final long YIELD = NotificationBackoff.YIELD_NANOS;

  @Test
  @Rule("WAIT-11")
  void eachShortenedBackOffHalvesTheNextDelayAndTheFifthIsAsTheFirst() {
    assertThat(delays(NotificationBackoff.NONE, 9))
        .containsExactly(
            2_000_000L,
            1_000_000L,
            500_000L,
            250_000L,
            2_000_000L,
            1_000_000L,
            500_000L,
            250_000L,
            2_000_000L);
  }

  @Test
  @Rule("WAIT-11")
  void aNotificationThatShortensNoBackOffChangesNoDelay() {
    NotificationBackoff before = NotificationBackoff.NONE.onShortened();

    assertThat(before.onNotified()).isEqualTo(before);
  }

  @Test
  @Rule("WAIT-13")
  void aWaiterYieldsToEachOtherManagerAndIsThenTheFirst() {
    assertThat(delays(NotificationBackoff.NONE.yieldTo(3), 3))
        .containsExactly(YIELD, YIELD, 250_000L);
  }

  @Test
  @Rule("WAIT-13")
  void afterItsTurnAWaiterGoesOnWithTheDelaysOfAllOthers() {
    assertThat(delays(NotificationBackoff.NONE.yieldTo(2), 4))
        .containsExactly(YIELD, 250_000L, 500_000L, 250_000L);
  }

  @Test
  @Rule("WAIT-13")
  void oneOtherManagerOrNoneNeedsNoOrderOfTurns() {
    for (int others = 0; others <= 1; others++) {
      assertThat(NotificationBackoff.NONE.yieldTo(others)).isEqualTo(NotificationBackoff.NONE);
    }
  }

  @Test
  @Rule("WAIT-13")
  void yieldingAgainBeginsAnotherOrderOfTurns() {
    NotificationBackoff yielding = NotificationBackoff.NONE.yieldTo(2).onNotified();

    assertThat(delays(yielding.yieldTo(2), 2)).containsExactly(YIELD, 250_000L);
  }

  /** Returns the delays after so many notifications, each of which shortens a back-off. */
  private static List<Long> delays(NotificationBackoff first, int notifications) {
    List<Long> delays = new ArrayList<>();
    NotificationBackoff state = first;
    for (int i = 0; i < notifications; i++) {
      delays.add(state.delayNanos());
      state = state.onNotified().onShortened();
    }
    return delays;
  }
}
