package dev.holdfast.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast compare} as a process, with its servers and holders, measured once. */
@Tag("slow")
class CompareTest {
  private static final Duration LIMIT = Duration.ofSeconds(200);

  @TempDir static Path temporary;
  private static Program compare;

  @BeforeAll
  @Timeout(240)
  static void measure() {
    compare =
        Program.holdfast(
            Map.of("HOLDFAST_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary),
            "compare",
            "--seconds",
            "1",
            "--json");
    assertThat(compare.exitCodeWithin(LIMIT)).as(compare.err()).isZero();
  }

  @AfterAll
  static void end() {
    compare.close();
  }

  @ParameterizedTest
  @CsvSource({
    "clocks apart, SETNX/GETSET, true",
    "clocks apart, SET NX PX, false",
    "clocks apart, Redlock of 3, false",
    "clocks apart, Redlock of 5, false",
    "master fails over, SETNX/GETSET, true",
    "master fails over, SET NX PX, true",
    "master fails over, Redlock of 3, false",
    "master fails over, Redlock of 5, false",
    "node dies, SETNX/GETSET, true",
    "node dies, SET NX PX, true",
    "node dies, Redlock of 3, false",
    "node dies, Redlock of 5, false",
    "holder is slow, SETNX/GETSET, false",
    "holder is slow, bare pattern, true",
    "holder is slow, SET NX PX, false",
    "holder is slow, Redlock of 3, false",
    "holder is slow, Redlock of 5, false",
    "contention, SET NX PX, false",
    "contention, Redlock of 3, false",
    "contention, Redlock of 5, false",
  })
  void twoOwnersAtOnce(String scenario, String lock, boolean two) {
    assertThat(row(scenario, lock)).contains("\"twoOwners\": " + two);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SETNX/GETSET", "SET NX PX", "Redlock of 3", "Redlock of 5"})
  void aHolderThatDiesOrStandsStillKeepsOthersOutForItsTtlAtLeast(String lock) {
    // Its keys last for 2 s, and for the old pattern at least that: it counts whole seconds.
    for (String scenario : new String[] {"holder crashes", "holder is slow"}) {
      assertThat(number(row(scenario, lock), "unavailableMillis")).isBetween(1_990.0, 30_000.0);
    }
    assertThat(row("holder crashes", lock)).doesNotContain("twoOwners");
    assertThat(row("holder is slow", lock)).contains("\"holderKnows\": true");
  }

  @Test
  void theBarePatternHasNoHolderThatChecksAndOneRowOnly() {
    assertThat(row("holder is slow", "bare pattern")).doesNotContain("holderKnows");
    assertThat(compare.out()).containsOnlyOnce("\"bare pattern\"");
  }

  @Test
  void aNodeThatIsDownKeepsAllOutUnlessAMajorityIsLeft() {
    for (String lock : new String[] {"SETNX/GETSET", "SET NX PX"}) {
      assertThat(number(row("node dies", lock), "unavailableMillis")).isGreaterThan(1_900);
    }
    for (String lock : new String[] {"Redlock of 3", "Redlock of 5"}) {
      assertThat(number(row("node dies", lock), "unavailableMillis")).isLessThan(1_900);
      assertThat(number(row("master fails over", lock), "unavailableMillis")).isLessThan(1_900);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SETNX/GETSET", "SET NX PX", "Redlock of 3", "Redlock of 5"})
  void contentionGrantsAndCountsEveryCommandToEveryNode(String lock) {
    String row = row("contention", lock);
    int nodes = lock.startsWith("Redlock of ") ? Integer.parseInt(lock.substring(11)) : 1;

    assertThat(number(row, "grantsPerSecond")).isPositive();
    // One to acquire and one to release, to each node.
    assertThat(number(row, "commandsPerGrant")).isGreaterThanOrEqualTo(2.0 * nodes);
    assertThat(row).doesNotContain("unavailableMillis");
  }

  @Test
  void saysHowFarItIsAndLeavesNothing() throws Exception {
    assertThat(compare.err()).containsPattern("holdfast: \\d+ s  1 of 6 scenarios: holder crashes");
    assertThat(compare.out()).hasLineCount(1).contains("\"redis\": \"", "\"jedis\": \"");
    try (Stream<Path> files = Files.list(temporary)) {
      assertThat(files.filter(file -> file.getFileName().toString().startsWith("holdfast-")))
          .isEmpty();
    }
    assertThat(compare.handle().descendants()).isEmpty();
  }

  private static String row(String scenario, String lock) {
    Matcher row =
        Pattern.compile(
                Pattern.quote("{\"scenario\": \"" + scenario + "\", \"lock\": \"" + lock + "\"")
                    + "[^}]*")
            .matcher(compare.out());
    assertThat(row.find()).as("%s, %s in %s", scenario, lock, compare.out()).isTrue();
    return row.group();
  }

  private static double number(String row, String key) {
    Matcher number = Pattern.compile("\"" + key + "\": ([0-9.]+)").matcher(row);
    assertThat(number.find()).as(row).isTrue();
    return Double.parseDouble(number.group(1));
  }
}
