package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.simulation.Flaw.Edit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The simulator against flawed cores: one that it does not catch is a hole in it. */
class MutantsTest {
  private static final Path ROOT = Path.of("..");
  private static final Path PAGE = ROOT.resolve("docs/simulation.md");
  private static final long MAX_SEEDS = 200_000;
  private static final String BEGIN = "<!-- generated: begin -->\n";
  private static final String END = "<!-- generated: end -->\n";
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| ([a-z-]+) \\|.*\\| (\\d+) \\| [a-z-]+ \\|$");

  @Test
  @DisplayName(
      "the code that a mutant changes is in the sources, and docs/simulation.md has its row")
  void eachMutantFitsTheSources() throws IOException {
    Map<String, Long> written = writtenSeeds();
    for (Flaw mutant : Flaw.all()) {
      assertThat(written).containsKey(mutant.label());
      assertThat(MutantLoader.changed(mutant, ROOT).keySet()).isEqualTo(files(mutant));
    }
  }

  @Test
  @Tag("soak")
  @Timeout(value = 60, unit = TimeUnit.MINUTES)
  @DisplayName(
      "each mutant is caught by the invariant that it breaks, at the seed that docs/simulation.md"
          + " names; -Dholdfast.write looks for it and writes it")
  void eachMutantIsCaught() throws IOException {
    boolean writes = System.getProperty("holdfast.write") != null;
    Map<String, Long> written = writtenSeeds();
    Map<Flaw, Long> seeds = new LinkedHashMap<>();
    for (Flaw mutant : Flaw.all()) {
      long known = written.getOrDefault(mutant.label(), 1L);
      long found = Simulate.firstBroken(mutant, ROOT, known, 1);
      if (writes && found <= 0) {
        found = Simulate.firstBroken(mutant, ROOT, 1, MAX_SEEDS);
      }
      assertThat(found)
          .as("%s is caught; -Dholdfast.write looks for its seed again", mutant.label())
          .isPositive();
      seeds.put(mutant, found);
    }
    if (writes) {
      write(tables(seeds));
    }
    assertThat(page())
        .as("mvn test -Psoak -pl simulation -am -Dtest=MutantsTest -Dholdfast.write writes it")
        .contains(BEGIN + tables(seeds) + END);
  }

  @Test
  @DisplayName("the same seeds break nothing without the mutant")
  void theSameSeedsHoldWithoutTheMutant() throws IOException {
    Map<String, Long> seeds = writtenSeeds();
    assertThat(seeds).hasSize(Flaw.all().size());
    for (Flaw mutant : Flaw.all()) {
      if (!mutant.edits().isEmpty()) {
        long seed = seeds.getOrDefault(mutant.label(), 0L);
        assertThat(Run.of(seed, mutant.profile()).violation()).as(mutant.label()).isNull();
      }
    }
  }

  private static Set<String> files(Flaw mutant) {
    return mutant.edits().stream().map(Edit::file).collect(Collectors.toSet());
  }

  private static Map<String, Long> writtenSeeds() throws IOException {
    return ROW.matcher(page())
        .results()
        .collect(
            Collectors.toMap(
                (MatchResult row) -> row.group(1), row -> Long.parseLong(row.group(2))));
  }

  private static String tables(Map<Flaw, Long> seeds) {
    StringBuilder text = new StringBuilder();
    text.append("\n| Invariant | Meaning |\n| --- | --- |\n");
    for (Invariant invariant : Invariant.values()) {
      text.append("| %s | %s |\n".formatted(invariant.label(), invariant.sentence()));
    }
    text.append("\n| Profile | Faults | Invariants not checked |\n| --- | --- | --- |\n");
    for (Profile profile : Profile.values()) {
      String missing =
          Arrays.stream(Invariant.values())
              .filter(invariant -> !profile.asks(invariant))
              .map(Invariant::label)
              .collect(Collectors.joining(", "));
      text.append("| %s | %s | %s |\n".formatted(profile.label(), profile.about(), missing));
    }
    text.append("\n| Mutant | Its flaw | Profile | First seed | Broken invariant |\n");
    text.append("| --- | --- | --- | --- | --- |\n");
    seeds.forEach(
        (mutant, seed) ->
            text.append(
                "| %s | %s | %s | %d | %s |\n"
                    .formatted(
                        mutant.label(),
                        mutant.about(),
                        mutant.profile().label(),
                        seed,
                        mutant.breaks().label())));
    return text.append("\n").toString();
  }

  private static String page() throws IOException {
    return Files.readString(PAGE);
  }

  private static void write(String tables) throws IOException {
    String page = page();
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    Files.writeString(PAGE, page.substring(0, begin) + tables + page.substring(page.indexOf(END)));
  }
}
