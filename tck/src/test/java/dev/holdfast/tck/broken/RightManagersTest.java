package dev.holdfast.tck.broken;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is right passes, or nothing could be said of what fails. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RightManagersTest {
  @Test
  void redlockOverFakeNodesPasses() {
    KitRun run = KitRun.of(FakeEnvironment::new);

    assertThat(run.failures()).isEmpty();
    assertThat(run.passed()).hasSizeGreaterThan(200);
    assertThat(run.reasonsToSkip())
        .as("no test is left out for another reason than what these managers are")
        .isSubsetOf(
            "this environment's managers have no URL",
            "not declared: FENCING_TOKEN",
            "what is declared is not refused",
            "the nodes themselves show it",
            "before JDK 21");
  }
}
