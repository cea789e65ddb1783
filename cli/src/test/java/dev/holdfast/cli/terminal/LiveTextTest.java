package dev.holdfast.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class LiveTextTest {
  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final LiveText live = new LiveText(new PrintStream(screen, true, UTF_8), 10);

  @Test
  void aLineThatWouldWrapIsCut() {
    live.draw(List.of("123456789", "1234567890", ""));

    assertThat(lines()).containsExactly("123456789", "123456...", "");
  }

  @Test
  void coloursTakeNoRoomAndAreEndedInACutLineToo() {
    live.draw(List.of("\u001b[31m123456789\u001b[0m", "\u001b[31m12345678\u001b[0m90"));

    assertThat(lines())
        .containsExactly("\u001b[31m123456789\u001b[0m", "\u001b[31m123456\u001b[0m...");
  }

  @Test
  void goesUpByAsManyLinesAsItHasDrawn() {
    live.draw(List.of("much too long for this", "b"));
    live.draw(List.of("c"));

    assertThat(screen.toString(UTF_8)).containsOnlyOnce("\u001b[2Ac");
  }

  private List<String> lines() {
    return screen
        .toString(UTF_8)
        .replace("\u001b[?25l", "")
        .replace("\u001b[K", "")
        .replace("\u001b[J", "")
        .lines()
        .toList();
  }
}
