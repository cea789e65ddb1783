package dev.holdfast.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.report.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The table and the JSON show the same. */
class CompareResultTest {
  private static final CompareVersions VERSIONS =
      new CompareVersions("1.2", "6.2.11", "8.0.2", "17.0.9", 2);

  @Test
  void inapplicableFigureIsADashAndIsNotInTheJson() {
    CompareResult result =
        result(
            new CompareResult.Row(
                CompareScenario.HOLDER_CRASHES,
                CompareLock.SETNX,
                CompareCells.unavailable(Duration.ofMillis(3_449))));

    assertThat(row(result, "holder crashes"))
        .matches("holder crashes +SETNX/GETSET +[–-] +3\\.4 s +[–-] +[–-]");
    assertThat(json(result))
        .contains(
            "{\"scenario\": \"holder crashes\", \"lock\": \"SETNX/GETSET\","
                + " \"unavailableMillis\": 3449}");
  }

  @Test
  void aSlowHolderIsSeenToKnowOrNot() {
    CompareCells no = CompareCells.twoOwners(false).withUnavailable(Duration.ofMillis(99));
    CompareResult result =
        result(
            new CompareResult.Row(
                CompareScenario.HOLDER_IS_SLOW, CompareLock.OF_5, no.withHolderKnows(true)),
            new CompareResult.Row(
                CompareScenario.HOLDER_IS_SLOW, CompareLock.OF_3, no.withHolderKnows(false)));

    assertThat(row(result, "holder is slow")).contains("Redlock of 5  no, it knows   99 ms");
    assertThat(row(result, "   ")).contains("Redlock of 3  no, unaware");
    assertThat(json(result))
        .contains("\"Redlock of 5\", \"twoOwners\": false, \"holderKnows\": true")
        .contains("\"Redlock of 3\", \"twoOwners\": false, \"holderKnows\": false");
  }

  @Test
  void contentionIsShownAsNumbers() {
    CompareResult result =
        result(
            new CompareResult.Row(
                CompareScenario.CONTENTION,
                CompareLock.SINGLE,
                CompareCells.contention(true, 1234.56, 7.04)));

    assertThat(row(result, "contention")).matches("contention +SET NX PX +YES +[–-] +1235 +7\\.0");
    assertThat(json(result))
        .contains("\"twoOwners\": true, \"grantsPerSecond\": 1234.6, \"commandsPerGrant\": 7.0}");
  }

  @Test
  void saysWhenAndWithWhatItWasMeasured() {
    CompareResult result = result();

    assertThat(result.text())
        .contains(
            """
            Measured on 2026-02-03 on a machine of 2 processors, with
            holdfast 1.2, redis 6.2.11, jedis 8.0.2, java 17.0.9
            """);
    assertThat(json(result))
        .startsWith(
            "{\"date\": \"2026-02-03T04:05:06Z\", \"versions\": {\"holdfast\": \"1.2\","
                + " \"redis\": \"6.2.11\", \"jedis\": \"8.0.2\", \"java\": \"17.0.9\"},"
                + " \"processors\": 2, \"rows\": [");
  }

  @Test
  void fitsATerminal() {
    CompareResult result =
        result(
            new CompareResult.Row(
                CompareScenario.MASTER_FAILS_OVER,
                CompareLock.SETNX,
                new CompareCells(
                    Optional.of(false),
                    Optional.of(true),
                    Optional.of(Duration.ofSeconds(100)),
                    Optional.of(123_456.0),
                    Optional.of(1_234.5))));

    assertThat(result.text().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(80));
  }

  private static CompareResult result(CompareResult.Row... rows) {
    return new CompareResult(Instant.parse("2026-02-03T04:05:06.789Z"), VERSIONS, List.of(rows));
  }

  private static String row(CompareResult result, String start) {
    return result.text().lines().filter(line -> line.startsWith(start)).reduce("", (a, b) -> b);
  }

  private static String json(CompareResult result) {
    return Json.of(result.members());
  }
}
