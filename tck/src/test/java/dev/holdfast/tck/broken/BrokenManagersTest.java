package dev.holdfast.tck.broken;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** Each mistake is caught by the rules that it breaks, and by no others. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class BrokenManagersTest {
  /** They wait for most of their time. */
  private static final int RUNS_AT_A_TIME = 16;

  /** Rules that no manager on these nodes can break, and what proves them. */
  private static final Map<String, String> OTHERWISE_PROVED =
      Map.of(
          "ACQ-14", "the view is the API's own code",
          "FAULT-6", "takes nodes outside of this process",
          "OPEN-5", "takes users with rights",
          "DISC-1", "takes class paths",
          "DISC-2", "takes class paths",
          "DISC-3", "takes class paths",
          "DISC-4", "is the API's own code");

  private final ExecutorService runs = Executors.newFixedThreadPool(RUNS_AT_A_TIME);

  @AfterAll
  void end() {
    runs.shutdownNow();
  }

  @TestFactory
  @Tag("soak")
  Stream<DynamicTest> breaksItsRulesAndNoOthers() {
    return runsOf(Flaw.all().stream().filter(flaw -> !flaw.isVariation()).toList());
  }

  @TestFactory
  @Tag("soak")
  Stream<DynamicTest> breaksItsRulesAndNoOthersInAnotherWay() {
    return runsOf(Flaw.all().stream().filter(Flaw::isVariation).toList());
  }

  @Test
  void noTwoAreAlike() {
    assertThat(Flaw.all()).extracting(Flaw::mistake).doesNotHaveDuplicates();
    assertThat(Flaw.all()).hasSizeGreaterThan(40);
  }

  @Test
  void everyRuleIsBrokenBySomebodyButForThoseThatAreProvedOtherwise() {
    Set<String> broken =
        Flaw.all().stream()
            .filter(flaw -> !flaw.isVariation())
            .flatMap(flaw -> flaw.rules().stream())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> others =
        Spec.rules().values().stream()
            .map(SpecRule::id)
            .filter(id -> !broken.contains(id))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(others).containsExactlyInAnyOrderElementsOf(OTHERWISE_PROVED.keySet());
  }

  private Stream<DynamicTest> runsOf(List<Flaw> flaws) {
    record Begun(Flaw flaw, Future<KitRun> run) {}
    return flaws.stream()
        .map(flaw -> new Begun(flaw, runs.submit(() -> KitRun.of(flaw.environment()))))
        .toList()
        .stream()
        .map(
            begun ->
                DynamicTest.dynamicTest(
                    begun.flaw().toString(), () -> check(begun.flaw(), begun.run())));
  }

  private static void check(Flaw flaw, Future<KitRun> begun)
      throws InterruptedException, ExecutionException {
    KitRun run = begun.get();

    assertThat(run.brokenRules())
        .as(
            "%s%n%s",
            flaw, String.join("\n", run.failures().stream().map(Object::toString).toList()))
        .containsExactlyInAnyOrderElementsOf(flaw.rules());
    assertThat(run.failures())
        .as("what failed besides tests")
        .filteredOn(failure -> failure.rules().isEmpty())
        .isEmpty();
    assertThat(run.passed()).isNotEmpty();
  }
}
