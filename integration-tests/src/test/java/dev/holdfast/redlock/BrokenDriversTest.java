package dev.holdfast.redlock;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.LockManager;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.InnerRun;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/**
 * The table of docs/drivers.md: the mistakes of drivers, and the rules of the kit that show them.
 */
class BrokenDriversTest {
  private static final Path DOCS = Path.of("../docs/drivers.md");
  private static final Pattern ROW =
      Pattern.compile("\\| ([^|]+) \\| ((?:[A-Z]+-\\d+(?:, )?)+) \\|");

  /** {@code -Dholdfast.flaws=REGEX} runs those drivers alone in whose rows it is found. */
  private static final Pattern WANTED = Pattern.compile(System.getProperty("holdfast.flaws", ""));

  private static final String PARALLEL = "junit.jupiter.execution.parallel.";

  private static volatile @Nullable BrokenDriver driver;

  /** Found by the launcher alone. */
  static class Kit extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return RedisTckEnvironment.builder(new Opening(requireNonNull(driver)))
          .optionSets(List.of(Map.of("fencing", "false")))
          .build();
    }
  }

  /** Opens managers over a broken driver. */
  private record Opening(BrokenDriver broken) implements RedisTckEnvironment.Opener {
    @Override
    public LockManager open(List<String> uris, Map<String, String> options) {
      return open(uris, options, OpenSettings.none());
    }

    @Override
    public LockManager open(List<String> uris, Map<String, String> options, OpenSettings settings) {
      Map<String, String> read = broken.read(options);
      LockUrl url = LockUrl.parse("redlock:" + String.join(",", uris), read);
      RedlockOptions asked = RedlockOptions.from(url);
      RedlockOptions parsed = read.containsKey("restartGuard") ? asked : asked.restartGuard(false);
      return Redlock.open(broken.over(uris, parsed, settings), parsed);
    }
  }

  @Test
  void eachRowHasADriver() throws IOException {
    assertThat(table().keySet())
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(BrokenDriver.values()).map(BrokenDriver::row).toList());
  }

  @Timeout(value = 10, unit = TimeUnit.MINUTES) // each test that fails waits for its time
  @ParameterizedTest
  @EnumSource
  @Tag("soak")
  void aDriverFailsByTheRulesOfItsRow(BrokenDriver broken) throws IOException {
    assumeTrue(WANTED.matcher(broken.row()).find());
    driver = broken;
    Set<String> rules = requireNonNull(table().get(broken.row()));
    Set<String> failed = new ConcurrentSkipListSet<>();
    Queue<String> messages = new ConcurrentLinkedQueue<>();
    InnerRun.of(
        LauncherDiscoveryRequestBuilder.request()
            .configurationParameter(PARALLEL + "enabled", "true")
            .configurationParameter(PARALLEL + "config.strategy", "fixed")
            .configurationParameter(PARALLEL + "config.fixed.parallelism", "4")
            .selectors(selectClass(Kit.class))
            .filters((PostDiscoveryFilter) test -> isOf(rules, test))
            .build(),
        new TestExecutionListener() {
          @Override
          public void executionSkipped(TestIdentifier test, String reason) {
            messages.add(test.getDisplayName() + " was left out: " + reason);
          }

          @Override
          public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
              executionSkipped(test, String.valueOf(result.getThrowable().orElse(null)));
            }
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
              failed.addAll(rulesOf(test.getSource()));
              messages.add(test.getDisplayName() + ": " + result.getThrowable().orElse(null));
            }
          }
        });
    assertThat(failed)
        .as("%s", String.join("\n", messages))
        .containsExactlyInAnyOrderElementsOf(rules);
  }

  private static FilterResult isOf(Set<String> rules, TestDescriptor test) {
    return FilterResult.includedIf(
        !test.isTest() || rulesOf(test.getSource()).stream().anyMatch(rules::contains));
  }

  private static Set<String> rulesOf(Optional<TestSource> source) {
    return source
        .filter(MethodSource.class::isInstance)
        .map(method -> ((MethodSource) method).getJavaMethod().getAnnotation(Rule.class))
        .map(rule -> Set.of(rule.value()))
        .orElse(Set.of());
  }

  private static Map<String, Set<String>> table() throws IOException {
    Map<String, Set<String>> rows = new HashMap<>();
    for (String line : Files.readAllLines(DOCS)) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        rows.put(row.group(1), Arrays.stream(row.group(2).split(", ")).collect(Collectors.toSet()));
      }
    }
    return rows;
  }
}
