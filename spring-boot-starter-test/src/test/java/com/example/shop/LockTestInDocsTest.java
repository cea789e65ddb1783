package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.CompiledSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The test in docs, as it stands there. */
class LockTestInDocsTest {
  private static final String IMPORTS =
      """
      package com.example.shop;
      import static org.junit.jupiter.api.Assertions.assertThrows;
      import static org.mockito.Mockito.doAnswer;
      import dev.holdfast.*;
      import dev.holdfast.spring.test.*;
      import java.time.Duration;
      import org.junit.jupiter.api.Test;
      import org.springframework.beans.factory.annotation.Autowired;
      import org.springframework.test.context.bean.override.mockito.MockitoBean;
      """;

  @TempDir private Path folder;

  @Test
  void itCompiles() throws Exception {
    String example =
        Pattern.compile("```java\n(@LockTest.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("../docs/spring.md")))
            .results()
            .map(found -> found.group(1))
            .findFirst()
            .orElseThrow();
    CompiledSource.compile(folder, "ShopTest", IMPORTS + example);
    assertThat(folder.resolve("com/example/shop/ShopTest.class")).exists();
  }
}
