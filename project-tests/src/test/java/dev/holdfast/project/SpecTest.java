package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** SPEC.md against the tests of all modules. */
class SpecTest {
  private static final Path ROOT = Path.of("..");
  private static final Path TABLE = ROOT.resolve("docs/rules.md");
  private static final String KIT = "tck/src/main/";

  /** {@code @Rule}, and the method that follows. */
  private static final Pattern NAMING =
      Pattern.compile("@Rule\\(\\s*(\\{?[^)]*?\"[^)]*)\\).*?void (\\w+)\\(", Pattern.DOTALL);

  /** A display name that begins with a rule, for which {@code @Rule} is the place. */
  private static final Pattern RULE_IN_DISPLAY_NAME =
      Pattern.compile("@DisplayName\\(\\s*\"[A-Z]{3,8}-\\d+\\b[^\"]*");

  /** The start of a file's type, after its annotations. */
  private static final Pattern TYPE =
      Pattern.compile("^(?:public |final |abstract )*(?:class|interface) ", Pattern.MULTILINE);

  /** The tags of tests that "mvn verify" leaves out. */
  private static final List<String> LATER_TAGS = List.of("@Tag(\"slow\")", "@Tag(\"soak\")");

  private static final String EXCLUSION_TAG = "@Tag(\"exclusion\")";

  private static final Pattern ID = Pattern.compile("\\b([A-Z]{3,8}-\\d+)\\b");

  /** Rules about who holds a lock, about tokens, and about what is sent twice. */
  private static final Set<String> EXCLUSION =
      Set.of(
          "ACQ-1",
          "ACQ-2",
          "ACQ-4",
          "ACQ-5",
          "ACQ-8",
          "ACQ-10",
          "ACQ-11",
          "ACQ-12",
          "VAL-1",
          "VAL-2",
          "VAL-4",
          "VAL-5",
          "REL-1",
          "REL-6",
          "REL-9",
          "EXT-1",
          "EXT-2",
          "EXT-3",
          "EXT-6",
          "LOSS-3",
          "ERR-6",
          "FAULT-4",
          "GUARD-1",
          "GUARD-3",
          "GUARD-6",
          "INT-1",
          "OPEN-2",
          "CLOSE-1",
          "LISTEN-6",
          "TRANSFER-2",
          "TRANSFER-4",
          "TRANSFER-5",
          "TRANSFER-6");

  /**
   * One test, and one rule that it names.
   *
   * @param isOfExclusion whether it, or its class, says that no stall forgives its failure
   * @param isLater whether it, or its class, is left out by "mvn verify"
   */
  private record Proof(
      String rule, Path file, String method, boolean isOfExclusion, boolean isLater) {
    boolean isOfKit() {
      return file.startsWith(ROOT.resolve(KIT));
    }

    String type() {
      return String.valueOf(file.getFileName()).replace(".java", "");
    }

    String sentence() {
      return method
          .replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ")
          .toLowerCase(Locale.ROOT);
    }

    String link() {
      return "[" + type() + "](../" + ROOT.relativize(file) + ")";
    }
  }

  @Test
  @DisplayName("each MUST has a test that names it in @Rule and runs in mvn verify")
  void eachMustHasATest() throws IOException {
    TreeSet<String> musts = new TreeSet<>();
    for (SpecRule rule : Spec.rules().values()) {
      if (rule.level() == SpecRule.Level.MUST) {
        musts.add(rule.id());
      }
    }
    assertThat(musts).hasSizeGreaterThan(50);
    proofs().stream()
        .filter(proof -> !proof.isLater())
        .forEach(proof -> musts.remove(proof.rule()));
    assertThat(musts).isEmpty();
  }

  @Test
  @DisplayName("each rule that a test names is in SPEC.md")
  void eachNameIsARule() throws IOException {
    assertThat(Spec.rules().keySet()).containsAll(proofs().stream().map(Proof::rule).toList());
  }

  @Test
  @DisplayName("a test names its rules in @Rule, and not in its display name")
  void noDisplayNameBeginsWithARule() throws IOException {
    assertThat(testFiles())
        .hasSizeGreaterThan(100)
        .flatExtracting(SpecTest::rulesInDisplayNames)
        .as("write the rule in @Rule, and the sentence alone as the display name")
        .isEmpty();
  }

  @Test
  @DisplayName("no stall forgives a test of holders, of tokens or of commands that are sent twice")
  void noStallForgivesATestOfExclusion() throws IOException {
    List<Proof> ofExclusion =
        proofs().stream().filter(proof -> EXCLUSION.contains(proof.rule())).toList();

    assertThat(ofExclusion).hasSizeGreaterThan(50).allMatch(Proof::isOfExclusion);
  }

  @Test
  @DisplayName("docs/rules.md is up to date; -Dholdfast.write writes it")
  void theTableIsUpToDate() throws IOException {
    String table = table();
    if (System.getProperty("holdfast.write") != null) {
      Files.writeString(TABLE, table);
    }
    assertThat(Files.readString(TABLE))
        .as(
            "mvn test -pl project-tests -am -Dtest=SpecTest -Dholdfast.write"
                + " -Dsurefire.failIfNoSpecifiedTests=false writes it")
        .isEqualTo(table);
  }

  private static String table() throws IOException {
    List<Proof> proofs = proofs();
    StringBuilder text =
        new StringBuilder(
            """
            # From rules to tests

            The build (`SpecTest`) writes this page from [SPEC.md](../SPEC.md) and the tests' sources.
            The kit's tests run for every backend.
            The other tests are for behaviour that a kit cannot see, or for one part alone.
            """);
    String section = "";
    for (SpecRule rule : Spec.rules().values()) {
      if (!rule.section().equals(section)) {
        section = rule.section();
        text.append("\n## ").append(section).append('\n');
        text.append(
            "\n| rule | level | the kit's tests | other tests |\n| --- | --- | --- | --- |\n");
      }
      List<Proof> own = proofs.stream().filter(p -> p.rule().equals(rule.id())).toList();
      text.append("| ")
          .append(rule.id())
          .append(" | ")
          .append(rule.level())
          .append(rule.capabilities().isEmpty() ? "" : " for " + behind(rule))
          .append(" | ")
          .append(
              own.stream()
                  .filter(Proof::isOfKit)
                  .collect(
                      Collectors.groupingBy(
                          Proof::link,
                          TreeMap::new,
                          Collectors.mapping(Proof::sentence, Collectors.joining("; "))))
                  .entrySet()
                  .stream()
                  .map(group -> group.getKey() + ": " + group.getValue())
                  .collect(Collectors.joining("; ")))
          .append(" | ")
          .append(
              own.stream()
                  .filter(p -> !p.isOfKit())
                  .map(Proof::link)
                  .distinct()
                  .collect(Collectors.joining(", ")))
          .append(" |\n");
    }
    return text.toString();
  }

  private static String behind(SpecRule rule) {
    return rule.capabilities().stream().map(Object::toString).collect(Collectors.joining(" and "));
  }

  private static List<Proof> proofs() throws IOException {
    return testFiles().stream().flatMap(SpecTest::proofsIn).toList();
  }

  private static List<Path> testFiles() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> !file.toString().contains("/target/"))
          .filter(SpecTest::hasTests)
          .sorted()
          .toList();
    }
  }

  private static List<String> rulesInDisplayNames(Path file) {
    return RULE_IN_DISPLAY_NAME
        .matcher(read(file))
        .results()
        .map(name -> ROOT.relativize(file) + ": " + name.group())
        .toList();
  }

  private static boolean hasTests(Path file) {
    String name = String.valueOf(file.getFileName());
    return file.startsWith(ROOT.resolve(KIT))
        ? name.endsWith("Rules.java")
        : name.endsWith("Test.java") || name.endsWith("Contract.java");
  }

  /** Whether the method, after the blank line before it, or the class of the file has the tag. */
  private static boolean hasTag(String tag, String text, MatchResult naming) {
    String method = text.substring(text.lastIndexOf("\n\n", naming.start()), naming.end());
    String file = TYPE.split(text, 2)[0];
    return method.contains(tag) || file.contains(tag);
  }

  private static Stream<Proof> proofsIn(Path file) {
    String text = read(file);
    return NAMING
        .matcher(text)
        .results()
        .flatMap(
            naming ->
                ID.matcher(naming.group(1))
                    .results()
                    .map(MatchResult::group)
                    .map(
                        rule ->
                            new Proof(
                                rule,
                                file,
                                naming.group(2),
                                hasTag(EXCLUSION_TAG, text, naming),
                                LATER_TAGS.stream().anyMatch(tag -> hasTag(tag, text, naming)))))
        .distinct()
        .toList()
        .stream();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
