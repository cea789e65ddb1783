package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A class that was compiled without {@code -parameters}. */
class NamelessParametersTest {
  private static final String NAMED =
      """
      public class %s {
        @dev.holdfast.spring.Locked(name = "order-#{#%s}")
        public String ship(long id) {
          return dev.holdfast.Locks.current().orElseThrow().name();
        }
      }
      """;

  @TempDir private Path folder;

  @Test
  void aNameByAParametersNameFailsTheStartAndSaysWhatToWrite() throws Exception {
    Class<?> shop = compiled("ByName", "id");
    contexts(shop)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("uses #id, which is no parameter")
                    .hasMessageContaining("compile with -parameters, or write #p0"));
  }

  @Test
  void aNameByAParametersPositionWorks() throws Exception {
    Class<?> shop = compiled("ByPosition", "p0");
    contexts(shop)
        .run(
            context ->
                assertThat(shop.getMethod("ship", long.class).invoke(context.getBean(shop), 4711L))
                    .isEqualTo("order-4711"));
  }

  private static ApplicationContextRunner contexts(Class<?> bean) {
    return Contexts.inMemory().withClassLoader(bean.getClassLoader()).withBean(bean);
  }

  private Class<?> compiled(String name, String parameter) throws Exception {
    Path source =
        Files.writeString(folder.resolve(name + ".java"), NAMED.formatted(name, parameter));
    String[] javac = {
      "-proc:none",
      "-d",
      folder.toString(),
      "-cp",
      System.getProperty("java.class.path"),
      source.toString()
    };
    int errors =
        Objects.requireNonNull(ToolProvider.getSystemJavaCompiler()).run(null, null, null, javac);
    assertThat(errors).isZero();
    return new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())
        .loadClass(name);
  }
}
