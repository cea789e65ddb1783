package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A rule that is listed as broken must be seen to break. */
class ExpectedFailuresTest {
  private final ExpectedFailures byDesign =
      new ExpectedFailures(Map.of("REL-1", "it has no token"));

  @Test
  void aListedRuleMayBreak() {
    byDesign.begin(rule("one"));

    assertThat(byDesign.reason(rule("one"), new AssertionError())).contains("it has no token");
    assertThat(byDesign.unseen()).isEmpty();
  }

  @Test
  void anotherRuleMayNot() {
    byDesign.begin(rule("another"));

    assertThat(byDesign.reason(rule("another"), new AssertionError())).isEmpty();
  }

  @Test
  void aListedRuleThatIsKeptOrCannotBeShownIsNamed() {
    byDesign.begin(rule("one"));

    assertThat(byDesign.unseen().orElseThrow()).contains("[REL-1]", "take them off the list");
  }

  @Test
  void aHangOrAnUnexpectedExceptionIsNotWhatWasMeant() {
    byDesign.begin(rule("one"));

    assertThat(byDesign.reason(rule("one"), new TimeoutException())).isEmpty();
    assertThat(byDesign.reason(rule("one"), new NullPointerException())).isEmpty();
    assertThat(byDesign.unseen()).isPresent();
  }

  @Test
  void aListedRuleOfWhichNoTestWasChosenIsPassedOver() {
    byDesign.begin(rule("another"));

    assertThat(byDesign.unseen()).isEmpty();
  }

  @Test
  void anUnknownRuleIsRefused() {
    assertThatThrownBy(() -> new ExpectedFailures(Map.of("REL-99", "")))
        .hasMessageContaining("REL-99");
  }

  private static Rule rule(String sample) {
    try {
      return Objects.requireNonNull(
          Sample.class.getDeclaredMethod(sample).getAnnotation(Rule.class));
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings("unused") // for their annotations
  private interface Sample {
    @Tag("exclusion")
    @Rule("REL-1")
    void one();

    @Rule("REL-2")
    void another();
  }
}
