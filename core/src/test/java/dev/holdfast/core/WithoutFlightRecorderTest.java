package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockManager;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM image without the module of the flight recorder runs the core. */
class WithoutFlightRecorderTest {
  @TempDir Path folder;

  @Test
  void anImageWithoutTheModuleTakesLocks() throws Exception {
    Path image = folder.resolve("image");
    link(image);
    Process java =
        new ProcessBuilder(
                image.resolve("bin/java").toString(),
                "-cp",
                String.join(
                    File.pathSeparator,
                    List.of(
                        placeOf(LockManager.class),
                        placeOf(LockPrimitive.class),
                        placeOf(UsedWithoutRecorder.class))),
                UsedWithoutRecorder.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(java.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(output).contains("taken and released");
    assertThat(java.exitValue()).as(output).isZero();
  }

  private static void link(Path image) {
    assumeTrue(
        Files.isDirectory(Path.of(System.getProperty("java.home"), "jmods")), "a JDK with jmods");
    StringWriter said = new StringWriter();
    int code =
        ToolProvider.findFirst("jlink")
            .orElseThrow()
            .run(
                new PrintWriter(said, true),
                new PrintWriter(said, true),
                "--add-modules",
                "java.base",
                "--output",
                image.toString());
    assertThat(code).as(said.toString()).isZero();
  }

  private static String placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
