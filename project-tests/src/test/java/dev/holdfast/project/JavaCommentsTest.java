package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.project.JavaComments.Paragraph;
import org.junit.jupiter.api.Test;

class JavaCommentsTest {
  @Test
  void linesOfOneCommentAreOneParagraph() {
    assertThat(JavaComments.of("// one\n  // two\nx(); // three\n// four\n\n/* five */"))
        .containsExactly(
            new Paragraph(1, "one two"), new Paragraph(3, "three four"), new Paragraph(6, "five"));
  }

  @Test
  void literalsAreNoComments() {
    assertThat(JavaComments.of("a(\"// no\", '\"', \"\"\"\n/* no */\"\"\"); // yes"))
        .containsExactly(new Paragraph(2, "yes"));
  }

  @Test
  void javadocIsSplitAtParagraphsAndBlockTags() {
    assertThat(
            JavaComments.of(
                """
                /**
                 * One sentence, with
                 * {@code if (x) { co;
                 * de; }} in it.
                 *
                 * <p>Another.
                 *
                 * <ul>
                 *   <li>an item
                 * </ul>
                 *
                 * @param name a
                 *     name
                 * @return a <b>result</b>
                 * @throws Failure if it {@link #fails {@code so}}
                 */
                """))
        .containsExactly(
            new Paragraph(2, "One sentence, with `x` in it."),
            new Paragraph(6, "Another."),
            new Paragraph(9, "an item"),
            new Paragraph(12, "a name"),
            new Paragraph(14, "a result"),
            new Paragraph(15, "if it `x`"));
  }
}
