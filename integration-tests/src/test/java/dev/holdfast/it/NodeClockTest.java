package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node whose clock is wrong when it comes back without its data, and is set right then: by a
 * {@link ClockShim}.
 */
class NodeClockTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration TTL = Duration.ofSeconds(20);

  @TempDir private Path folder;
  private TestNodes sound;
  private TestNodes shifted;

  @BeforeEach
  void start() throws IOException {
    assumeThat(ClockShim.given()).as("a library for clocks").isPresent();
    sound = TestNodes.start(2);
    shifted =
        TestNodes.builder()
            .count(1)
            .directory(folder.resolve("nodes"))
            .source(ClockShim.given().orElseThrow().servers(folder.resolve("shim")))
            .start();
  }

  @AfterEach
  void stop() {
    if (sound != null) {
      sound.close();
    }
    if (shifted != null) {
      shifted.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, -1})
  @Tag("exclusion")
  @Rule("GUARD-1")
  void aClockThatIsAnHourOffAtTheRestartShortensNoQuarantine(int sign) throws Exception {
    TestNode forgets = shifted.node(0);
    TestNode free = sound.node(1);
    try (LockManager holder = open();
        LockManager other = open()) {
      free.command("SET", "job", "another's", "PX", "60000");
      Lease lease = holder.tryAcquire("job", TTL).orElseThrow();
      free.command("DEL", "job");
      shift(HOUR.multipliedBy(sign));
      forgets.restart();
      assertThat(secondsOf(forgets) - secondsOf(free))
          .as("the clock that it restarts with")
          .isBetween(sign * HOUR.toSeconds() - 5, sign * HOUR.toSeconds() + 5);
      Cluster.awaitVoteOf(forgets, other);
      shift(Duration.ZERO);
      for (int i = 0; i < 10; i++) {
        assertThat(other.tryAcquire("job", TTL)).isEmpty();
      }
      lease.requireHeld();
    }
  }

  private LockManager open() {
    String url =
        Backend.all()
            .get(0)
            .urlOf(List.of(sound.uris().get(0), shifted.uris().get(0), sound.uris().get(1)));
    return LockManager.open(
        url, Map.of("nodeTimeout", "2s", "connectTimeout", "10s", "retryDelay", "20ms"));
  }

  private void shift(Duration by) {
    ClockShim.set(ClockShim.ofNode(folder.resolve("nodes"), 0), by);
  }

  private static long secondsOf(TestNode node) {
    return node.command("TIME") instanceof List<?> time
        ? Long.parseLong(String.valueOf(time.get(0)))
        : 0;
  }
}
