package dev.holdfast.cli.tck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.cli.terminal.LiveText;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The record of a run of JUnit: all kinds of tests that the kit may have. */
class TckListenerTest {
  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

  @Test
  void keepsEachTestWithItsRuleGroupNameAndOutcome() {
    assertThat(tests())
        .extracting(TckTest::rules, TckTest::group, TckTest::name, TckTest::outcome, TckTest::why)
        .containsExactlyInAnyOrder(
            tuple(List.of("REL-1"), "some group", "it is kept", TckOutcome.PASSED, ""),
            tuple(
                List.of("REL-2"),
                "some group",
                "it is broken",
                TckOutcome.FAILED,
                "If this fails, check it\nexpected: true"),
            tuple(
                List.of("REL-3"), "some group", "it is left out", TckOutcome.NOT_SHOWN, "no clock"),
            tuple(
                List.of("REL-4"), "some group", "twice: repetition 1 of 2", TckOutcome.PASSED, ""),
            tuple(
                List.of("REL-4"), "some group", "twice: repetition 2 of 2", TckOutcome.PASSED, ""),
            tuple(List.of("REL-5"), "some group", "made: one", TckOutcome.PASSED, ""),
            tuple(List.of(), "", "the kit", TckOutcome.FAILED, "it could not be closed"));
  }

  @Test
  void keepsWhereATestFailed() {
    assertThat(tests())
        .filteredOn(test -> test.name().equals("it is broken"))
        .singleElement()
        .satisfies(test -> assertThat(test.trace()).contains("AssertionError", "Group.broken("));
  }

  @Test
  void progressCountsDynamicTestsToo() {
    tests();

    assertThat(screen.toString(UTF_8))
        .contains("6 of 7 tests, 2 failed (REL-2, the kit)")
        .doesNotContain("\n\n\n");
  }

  private List<TckTest> tests() {
    TckListener listener;
    try (TckProgress progress =
        new TckProgress(
            new PrintStream(screen, true, UTF_8),
            new LiveText(new PrintStream(screen, true, UTF_8), 200))) {
      listener = new TckListener(progress);
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(TckSample.class))
                  .filters(EngineFilter.includeEngines("junit-jupiter"))
                  .build(),
              listener);
    }
    return listener.tests();
  }
}
