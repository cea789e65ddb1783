package dev.holdfast.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.bench.BenchCommand;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PageTest {
  @Test
  void textInTheDataIsNeitherMarkupNorAPlaceholder() {
    String page = Page.of(BenchCommand.class, Map.of("a", "</script><!-- {{style}} {{script}}"));

    assertThat(page)
        .contains("{\"a\": \"\\u003c/script>\\u003c!-- {{style}} {{script}}\"}")
        .doesNotContain("<!--", "{{data}}");
    assertThat(page.split("</script>", -1)).hasSize(3);
  }
}
