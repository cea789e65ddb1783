package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Markdown, messages, help texts and comments against {@code plain-english.txt}. */
class PlainEnglishTest {
  private static final Path ROOT = Modules.ROOT;

  /** A letter or a closing mark, the end of a sentence, and the beginning of the next one. */
  private static final Pattern TWO_SENTENCES =
      Pattern.compile("[a-z0-9)`'\"*%][.!?][\"')*]* +[\"'(*]*[A-Z`]");

  private static final Pattern ABBREVIATION = Pattern.compile("\\b(?:e\\.g|i\\.e|vs)\\.");
  private static final Pattern TITLE = Pattern.compile("^\\*\\*[^*]*\\*\\*");
  private static final Pattern LIST_MARK = Pattern.compile("^(?:[-#]+ |\\d+\\. )+");
  private static final Pattern INLINE_CODE = Pattern.compile("`[^`]*`");
  private static final Pattern LINK_TARGET = Pattern.compile("]\\([^)]*\\)");
  private static final Pattern IN_PARENTHESES = Pattern.compile("\\([^()]*\\)");

  private static final List<Phrase> PHRASES = phrases();

  private record Phrase(Pattern pattern, String better) {}

  /** One line or one message, without code. */
  private record Text(Path file, int line, String words) {
    String finding(String phrase, String better) {
      return "%s:%d: '%s': write %s: %s"
          .formatted(ROOT.relativize(file), line, phrase.strip(), better, words);
    }
  }

  @Test
  void markdownIsPlainEnglish() throws IOException {
    assertPlain(markdown());
  }

  @Test
  void messagesArePlainEnglish() throws IOException {
    List<Text> messages = new ArrayList<>();
    for (Path module : Modules.shipped()) {
      for (Path file : filesIn(module.resolve("src/main/java"), ".java")) {
        JavaLiterals.of(Files.readString(file)).stream()
            .filter(literal -> literal.text().contains(" "))
            .forEach(literal -> messages.add(new Text(file, literal.line(), literal.text())));
      }
    }
    assertThat(messages).hasSizeGreaterThan(1_000);
    assertPlain(messages);
  }

  @Test
  void commentsArePlainEnglish() throws IOException {
    assertPlain(comments());
  }

  @Test
  void commentsJoinNoSentencesBySemicolons() throws IOException {
    assertThat(
            comments().stream()
                .filter(text -> text.words().contains(";"))
                .map(text -> text.finding(";", "two sentences")))
        .isEmpty();
  }

  @Test
  void resourcesOfTheCommandArePlainEnglish() throws IOException {
    List<Text> lines = new ArrayList<>();
    for (Path file : filesIn(ROOT.resolve("cli/src/main/resources"), "")) {
      List<String> text = Files.readAllLines(file);
      for (int i = 0; i < text.size(); i++) {
        lines.add(new Text(file, i + 1, text.get(i).strip()));
      }
    }
    assertThat(lines).isNotEmpty();
    assertPlain(lines);
  }

  @Test
  void markdownHasOneSentenceOnALine() throws IOException {
    assertThat(
            markdown().stream()
                .filter(text -> hasTwoSentences(text.words()))
                .map(text -> text.finding("two sentences", "one sentence on a line")))
        .isEmpty();
  }

  @Test
  void markdownJoinsNoSentencesBySemicolons() throws IOException {
    assertThat(
            markdown().stream()
                .filter(text -> hasSemicolon(text.words()))
                .map(text -> text.finding(";", "two sentences")))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Who waits is next. | Who",
        "It is held. What remains is short. | What",
        "nothing was done: what remains is short | what",
        "Of two nodes one is down. | Of",
        "the waiter tries in vain | in vain",
        "the lock is given back | given back",
        "HE WAS TOLD SO | TOLD"
      })
  void aPhraseIsFound(String text, String phrase) {
    assertThat(findings(new Text(ROOT, 1, text))).singleElement().asString().contains(phrase);
  }

  @ParameterizedTest
  @ValueSource(strings = {"What is a lock?", "Read on. Who holds it?", "The office. Offers."})
  void aQuestionIsNotFound(String text) {
    assertThat(findings(new Text(ROOT, 1, text))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "It is a lock. It is held.",
        "It is (mostly) held. `x` is not.",
        "It is held by 3 nodes. (It is one.)",
        "*Is it held?* It is."
      })
  void twoSentencesAreFound(String line) {
    assertThat(hasTwoSentences(line)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "**Decision.** It is held.",
        "It has two ends, e.g. Rome.",
        "Version 1.2 A works."
      })
  void oneSentenceIsNotTwo(String line) {
    assertThat(hasTwoSentences(line)).isFalse();
  }

  private static void assertPlain(List<Text> texts) {
    assertThat(texts.stream().flatMap(text -> findings(text).stream())).isEmpty();
  }

  private static List<String> findings(Text text) {
    List<String> found = new ArrayList<>();
    for (Phrase phrase : PHRASES) {
      Matcher matcher = phrase.pattern().matcher(text.words());
      if (matcher.find()) {
        found.add(text.finding(matcher.group(), phrase.better()));
      }
    }
    return found;
  }

  private static boolean hasTwoSentences(String line) {
    String text = ABBREVIATION.matcher(TITLE.matcher(line).replaceFirst("")).replaceAll("");
    return !isTable(line) && TWO_SENTENCES.matcher(text).find();
  }

  /** An intent in SPEC.md, and words in parentheses, may have a semicolon. */
  private static boolean hasSemicolon(String line) {
    return !isTable(line)
        && !line.startsWith("*Intent: ")
        && IN_PARENTHESES.matcher(line).replaceAll("").contains(";");
  }

  private static boolean isTable(String line) {
    return line.startsWith("|");
  }

  /** Returns the lines of all Markdown files outside of code, without the code in them. */
  private static List<Text> markdown() throws IOException {
    List<Text> lines = new ArrayList<>();
    for (Path file : filesIn(ROOT, ".md")) {
      boolean code = false;
      List<String> text = Files.readAllLines(file);
      for (int i = 0; i < text.size(); i++) {
        String line = text.get(i).strip();
        if (line.startsWith("```")) {
          code = !code;
        } else if (!code) {
          lines.add(new Text(file, i + 1, withoutCode(line)));
        }
      }
    }
    assertThat(lines).hasSizeGreaterThan(1_000);
    return lines;
  }

  /** Returns the comments of all sources, also of tests and examples. */
  private static List<Text> comments() throws IOException {
    List<Text> comments = new ArrayList<>();
    for (Path file : filesIn(ROOT, ".java")) {
      JavaComments.of(Files.readString(file)).stream()
          .map(paragraph -> new Text(file, paragraph.line(), paragraph.text()))
          .forEach(comments::add);
    }
    assertThat(comments).hasSizeGreaterThan(5_000);
    return comments;
  }

  private static String withoutCode(String line) {
    String text = LIST_MARK.matcher(line).replaceFirst("");
    return LINK_TARGET.matcher(INLINE_CODE.matcher(text).replaceAll("`x`")).replaceAll("]");
  }

  /** Returns the files of a folder in their order, without those that a build or Git makes. */
  private static List<Path> filesIn(Path folder, String ending) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes) {
            boolean isMade = String.valueOf(below.getFileName()).matches("target|\\.\\w.*");
            return isMade ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(ending)) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    Collections.sort(found);
    return found;
  }

  private static List<Phrase> phrases() {
    try (Stream<String> lines = Files.lines(Path.of("src/test/resources/plain-english.txt"))) {
      return lines
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(line -> line.split(" -> ", 2))
          .map(parts -> new Phrase(Pattern.compile("(?i)" + parts[0]), parts[1]))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
