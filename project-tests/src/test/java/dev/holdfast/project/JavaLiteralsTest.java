package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.project.JavaLiterals.Literal;
import org.junit.jupiter.api.Test;

class JavaLiteralsTest {
  @Test
  void literalsHaveTheirLineAndText() {
    assertThat(JavaLiterals.of("a(\"one\");\n\nb(\"a \\\"two\\\"\");"))
        .containsExactly(new Literal(1, "one"), new Literal(3, "a \\\"two\\\""));
  }

  @Test
  void joinedLiteralsAreOne() {
    assertThat(JavaLiterals.of("x = \"one, \"\n    + \"two\" + y + \"three\";"))
        .containsExactly(new Literal(1, "one, two"), new Literal(2, "three"));
  }

  @Test
  void commentsAndCharactersHideQuotes() {
    assertThat(JavaLiterals.of("'\"' /* \"no\" */ '\\'' // \"no\"\n\"yes // too\""))
        .containsExactly(new Literal(2, "yes // too"));
  }

  @Test
  void textBlocksAreLiterals() {
    assertThat(JavaLiterals.of("\"\"\"\n a \"quoted\" word\n\"\"\""))
        .containsExactly(new Literal(1, "\n a \"quoted\" word\n"));
  }
}
