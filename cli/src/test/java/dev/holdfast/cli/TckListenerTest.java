package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.groups.Tuple.tuple;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.tck.Rule;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** What is kept of a run of JUnit: all kinds of tests that the kit may have. */
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
            tuple(List.of("REL-3"), "some group", "it is left out", TckOutcome.SKIPPED, "no clock"),
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
  void theProgressCountsTestsAlsoThoseThatAreMadeOnTheWay() {
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
                  .selectors(selectClass(Sample.class))
                  .filters(EngineFilter.includeEngines("junit-jupiter"))
                  .build(),
              listener);
    }
    return listener.tests();
  }

  /** Not found by the build, which passes nested classes over. */
  @DisplayName("the kit")
  static class Sample {
    @AfterAll
    static void close() {
      fail("it could not be closed");
    }

    @Nested
    @DisplayName("some group")
    class Group {
      @Test
      @Rule("REL-1")
      @DisplayName("REL-1: it is kept")
      void kept() {}

      @Test
      @Rule("REL-2")
      @DisplayName("REL-2: it is broken")
      void broken() {
        fail("[Sample] REL-2 MUST. It is kept.\nIf this fails, check it\nexpected: true");
      }

      @Test
      @Rule("REL-3")
      @DisplayName("REL-3: it is left out")
      void leftOut() {
        abort("no clock");
      }

      @RepeatedTest(2)
      @Rule("REL-4")
      @DisplayName("REL-4: twice")
      void twice() {}

      @TestFactory
      @Rule("REL-5")
      @DisplayName("REL-5: made")
      Stream<DynamicTest> made() {
        return Stream.of(DynamicTest.dynamicTest("one", () -> {}));
      }

      @Test
      @Disabled
      @Rule("REL-6")
      void notRun() {}
    }
  }
}
