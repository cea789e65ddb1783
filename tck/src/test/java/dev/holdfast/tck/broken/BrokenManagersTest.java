package dev.holdfast.tck.broken;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each broken manager fails by exactly the rules that it breaks. Several go through the kit at the
 * same time, because they mostly wait. A run that differs is repeated alone, and then counts: a
 * machine that is kept too busy breaks rules of its own.
 */
@Tag("soak")
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class BrokenManagersTest {
  private static final int AT_A_TIME = 10;

  private final ExecutorService executor = Executors.newFixedThreadPool(AT_A_TIME);
  private final Map<String, CompletableFuture<KitRun>> runs = new LinkedHashMap<>();

  @BeforeAll
  void begin() {
    for (Flaw flaw : flaws()) {
      runs.put(
          flaw.mistake(),
          CompletableFuture.supplyAsync(() -> KitRun.of(flaw.environment()), executor));
    }
  }

  @AfterAll
  void end() {
    executor.shutdown();
  }

  static List<Flaw> flaws() {
    return Flaw.all();
  }

  @Test
  void noTwoAreAlikeAndThereAreManyOfThem() {
    assertThat(flaws()).hasSizeGreaterThan(40).extracting(Flaw::mistake).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("flaws")
  void failsByTheRulesThatItBreaksAndNoOther(Flaw flaw) {
    KitRun run = Objects.requireNonNull(runs.get(flaw.mistake())).join();
    if (!run.brokenRules().equals(flaw.rules())) {
      CompletableFuture.allOf(runs.values().toArray(CompletableFuture[]::new)).join();
      run = KitRun.of(flaw.environment());
    }
    assertThat(run.brokenRules())
        .as("%s", run.failures())
        .containsExactlyElementsOf(new TreeSet<>(flaw.rules()));
  }
}
