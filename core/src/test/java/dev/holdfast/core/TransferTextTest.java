package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.testsupport.Rule;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransferTextTest {
  private static final TransferText TRANSFER =
      new TransferText("redlock, 3 nodes, keyPrefix 'a'", "order 🔒", "me:0123456789abcdef");

  @Test
  void aTextIsReadAsItWasWritten() {
    TransferText read = TransferText.of(TRANSFER.encoded());

    assertThat(read).isEqualTo(TRANSFER);
    read.requireFor(TRANSFER.scope(), TRANSFER.name());
  }

  @Test
  void textNeedsNoQuoting() {
    assertThat(TRANSFER.encoded()).matches("holdfast1-[A-Za-z0-9_-]+");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "ab", "abc"})
  @Rule("TRANSFER-9")
  @DisplayName("a text with any other character, or one more, is refused")
  void everyOtherOrAdditionalCharacterIsNoticed(String name) {
    String text = new TransferText("scope", name, "me:0123456789abcdef").encoded();
    List<String> others =
        List.of("A", "B", "Q", "g", "w", "z", "0", "9", "-", "_", "=", "/", "\n", " ", "\u00e9");
    for (int i = 0; i <= text.length(); i++) {
      String before = text.substring(0, i);
      for (String other : others) {
        assertRefused(before + other + text.substring(i));
        if (i < text.length() && !text.startsWith(other, i)) {
          assertRefused(before + other + text.substring(i + 1));
        }
      }
    }
  }

  @Test
  void everyChangedOrMissingCharacterIsNoticed() {
    String text = TRANSFER.encoded();
    IntStream.range(0, text.length())
        .forEach(
            i -> {
              char other = text.charAt(i) == 'A' ? 'B' : 'A';
              assertRefused(text.substring(0, i) + other + text.substring(i + 1));
              assertRefused(text.substring(0, i));
            });
    assertRefused(text + text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "holdfast1-", "holdfast1-AAAA", "holdfast1-////", "me:0123456789"})
  void anotherTextIsRefused(String text) {
    assertRefused(text);
  }

  @Test
  void aLongTextIsRefused() {
    assertRefused("holdfast1-" + "A".repeat(1_000_000));
  }

  @Test
  void anotherVersionIsNamed() {
    assertThatThrownBy(() -> TransferText.of("holdfast2-AAAA"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("another version");
  }

  @Test
  void anotherLockAndOtherNodesAreNamed() {
    assertThatThrownBy(() -> TRANSFER.requireFor(TRANSFER.scope(), "invoice"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("'order 🔒'")
        .hasMessageContaining("'invoice'");
    assertThatThrownBy(() -> TRANSFER.requireFor("redlock, 5 nodes, keyPrefix 'a'", "order 🔒"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("3 nodes")
        .hasMessageContaining("5 nodes");
  }

  private static void assertRefused(String text) {
    assertThatThrownBy(() -> TransferText.of(text))
        .isInstanceOf(LockConfigurationException.class)
        .hasNoCause()
        .satisfies(
            e -> {
              if (text.length() > "holdfast1-".length()) {
                assertThat(e.getMessage()).doesNotContain(text);
              }
            });
  }
}
