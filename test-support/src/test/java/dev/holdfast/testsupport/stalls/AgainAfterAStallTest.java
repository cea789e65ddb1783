package dev.holdfast.testsupport.stalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

@Tag("slow")
class AgainAfterAStallTest {
  @Test
  @DisplayName("a test that fails while the machine stalls, and passes by itself, has passed")
  void aStallIsForgiven() {
    TestExecutionSummary summary =
        run(
            selectMethod(Sample.class, "failsInAStall"),
            selectMethod(Sample.class, "withParameters", String.class),
            selectMethod(Sample.class, "dynamically"));

    assertThat(summary.getFailures()).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(4);
  }

  @Test
  @DisplayName("one that fails by itself, too, has failed, with what it said at first")
  void aFailureIsAFailure() {
    TestExecutionSummary summary = run(selectMethod(Sample.class, "failsAlways"));

    assertThat(summary.getFailures())
        .singleElement()
        .satisfies(
            failure -> assertThat(failure.getException()).hasMessage("in the process of many"));
  }

  @Test
  @DisplayName("one that passes only one of the two times has failed")
  void onceIsNotEnough(@TempDir Path folder) throws IOException {
    System.setProperty(Sample.PASSED, folder.resolve("passed").toString());
    try {
      TestExecutionSummary summary = run(selectMethod(Sample.class, "passesOnce"));

      assertThat(summary.getFailures()).hasSize(1);
      assertThat(folder.resolve("passed")).exists();
    } finally {
      System.clearProperty(Sample.PASSED);
    }
  }

  @Test
  @DisplayName("one that fails while the machine runs has failed at once")
  void nothingElseIsForgiven() {
    stall(); // before it begins

    TestExecutionSummary summary = run(selectMethod(Sample.class, "fails"));

    assertThat(summary.getFailures()).hasSize(1);
  }

  @Test
  @DisplayName("a test that is not for this machine has not failed")
  void aTestThatIsLeftOutHasNotFailed() {
    TestExecutionSummary summary = run(selectMethod(Sample.class, "isLeftOut"));

    assertThat(summary.getTestsAbortedCount()).isEqualTo(1);
  }

  @Test
  @DisplayName("two holders of one lock are never forgiven")
  void exclusionIsNoMatterOfTime() {
    TestExecutionSummary summary = run(selectMethod(Sample.class, "isAboutExclusion"));

    assertThat(summary.getFailures()).hasSize(1);
  }

  @Test
  @DisplayName("a random history is repeated with the seed that its failure names")
  void aHistoryIsRepeated() {
    TestExecutionSummary summary = run(selectMethod(Sample.class, "isRandom"));

    assertThat(summary.getFailures()).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(1);
  }

  private static TestExecutionSummary run(DiscoverySelector... tests) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(tests).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    return listener.getSummary();
  }

  private static void stall() {
    long now = System.nanoTime();
    Sample.MACHINE.woke(now - 200_000_000, now);
  }

  /** Its class holds something for all its tests, as one with servers does. */
  static class Sample {
    private static final Stalls MACHINE = new Stalls(new ProcessorTime(Path.of("no such file")));

    @RegisterExtension static final AgainAfterAStall AGAIN = new AgainAfterAStall(MACHINE);

    private static final String PASSED = "holdfast.test.passed";

    private static volatile boolean isOpen;

    @BeforeAll
    static void open() {
      isOpen = true;
    }

    @AfterAll
    static void close() {
      isOpen = false;
    }

    @Test
    void fails() {
      assertThat(isOpen).isTrue();
      assertThat(OneTest.isRunning()).isTrue();
    }

    @Test
    void failsInAStall() {
      stall();
      fails();
    }

    @ParameterizedTest
    @ValueSource(strings = "a/b [c]")
    void withParameters(String ignored) {
      failsInAStall();
    }

    @TestFactory
    Stream<DynamicTest> dynamically() {
      return IntStream.range(0, 2)
          .mapToObj(i -> DynamicTest.dynamicTest("number " + i, this::failsInAStall));
    }

    @Test
    void failsAlways() {
      stall();
      throw new AssertionError(
          OneTest.isRunning() ? "in a process of its own" : "in the process of many");
    }

    /** Passes by itself when no file shows an earlier run. */
    @Test
    void passesOnce() throws IOException {
      stall();
      fails();
      Files.createFile(Path.of(System.getProperty(PASSED)));
    }

    @Test
    void isRandom() {
      stall();
      assertThat(Long.getLong("holdfast.seed"))
          .as("a lock has two holders, repeat with -Dholdfast.seed=-42")
          .isEqualTo(-42L);
    }

    @Test
    void isLeftOut() {
      stall();
      assumeTrue(OneTest.isRunning());
    }

    @Test
    @Tag("exclusion")
    void isAboutExclusion() {
      failsInAStall();
    }
  }
}
