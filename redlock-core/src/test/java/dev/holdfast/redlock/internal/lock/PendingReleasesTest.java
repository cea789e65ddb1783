package dev.holdfast.redlock.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.internal.lock.PendingReleases.Pending;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The releases that are pending at nodes, and how long they are kept. */
class PendingReleasesTest {
  private final ManualTime time = new ManualTime();
  private final PendingReleases pending = new PendingReleases(time, 2);

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("the pending releases of a node are taken once and in order")
  void pendingReleasesAreTakenOnce() {
    pending.add(0, release("a", 10));
    pending.add(0, release("b", 10));
    assertThat(pending.take(1)).isEmpty();
    assertThat(pending.take(0)).extracting(Pending::key).containsExactly("a", "b");
    assertThat(pending.take(0)).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a release whose key has expired is no longer pending")
  void expiredReleasesAreDropped() {
    pending.add(0, release("a", 10));
    pending.add(0, release("b", 11));
    time.advance(Duration.ofSeconds(10));
    assertThat(pending.take(0)).extracting(Pending::key).containsExactly("b");
  }

  @Test
  @DisplayName("the latest ten thousand releases for a node that stays away are kept")
  void theLatestTenThousandAreKept() {
    for (int i = 0; i <= 10_000; i++) {
      pending.add(0, release("k" + i, 10));
    }
    assertThat(pending.take(0))
        .hasSize(10_000)
        .extracting(Pending::key)
        .startsWith("k1")
        .endsWith("k10000");
  }

  @Test
  @DisplayName("the release of the longest-lived key for a node that stays away is kept")
  void theReleaseOfTheLongestLivedKeyIsKept() {
    pending.add(0, release("held", 3_600));
    for (int i = 0; i < 10_000; i++) {
      pending.add(0, release("k" + i, 10));
    }
    time.advance(Duration.ofSeconds(10));
    assertThat(pending.take(0)).extracting(Pending::key).containsExactly("held");
  }

  private Pending release(String key, long seconds) {
    return new Pending(
        key,
        "me:1",
        RemainingLife.none(time.nanos()),
        List.of(),
        time.nanos() + Duration.ofSeconds(seconds).toNanos());
  }
}
