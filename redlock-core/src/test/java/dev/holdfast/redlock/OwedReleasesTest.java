package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.OwedReleases.Owed;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What nodes are owed, and for how long. */
class OwedReleasesTest {
  private final ManualTime time = new ManualTime();
  private final OwedReleases owed = new OwedReleases(time, 2);

  @Test
  @Tag("exclusion")
  @DisplayName("REL-6: what a node is owed is taken once, in order, and is of that node alone")
  void whatIsOwedIsTakenOnce() {
    owed.add(0, release("a", 10));
    owed.add(0, release("b", 10));
    assertThat(owed.take(1)).isEmpty();
    assertThat(owed.take(0)).extracting(Owed::key).containsExactly("a", "b");
    assertThat(owed.take(0)).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @DisplayName("REL-6: a release whose key is gone by itself is owed no longer")
  void whatHasExpiredIsOwedNoLonger() {
    owed.add(0, release("a", 10));
    owed.add(0, release("b", 11));
    time.advance(Duration.ofSeconds(10));
    assertThat(owed.take(0)).extracting(Owed::key).containsExactly("b");
  }

  @Test
  @DisplayName("of a node that stays away ten thousand releases are kept, the latest")
  void theLatestTenThousandAreKept() {
    for (int i = 0; i <= 10_000; i++) {
      owed.add(0, release("k" + i, 10));
    }
    assertThat(owed.take(0))
        .hasSize(10_000)
        .extracting(Owed::key)
        .startsWith("k1")
        .endsWith("k10000");
  }

  private Owed release(String key, long seconds) {
    return new Owed(
        key, "me:1", time.nanos(), time.nanos() + Duration.ofSeconds(seconds).toNanos());
  }
}
