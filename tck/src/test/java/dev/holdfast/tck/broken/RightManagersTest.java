package dev.holdfast.tck.broken;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is right passes: else nothing could be said of what fails. */
class RightManagersTest {
  @Test
  void redlockOverFakeNodesPasses() {
    KitRun run = KitRun.of(FakeEnvironment::new);

    assertThat(run.failures()).isEmpty();
    assertThat(run.passed()).hasSizeGreaterThan(200);
    assertThat(run.skipped())
        .as("what fake nodes in one process cannot show")
        .allMatch(
            test ->
                test.contains("URL")
                    || test.contains("declared: ")
                    || test.contains("takes minutes")
                    || test.contains("before JDK 21")
                    || test.contains("nodes themselves show it"));
  }
}
