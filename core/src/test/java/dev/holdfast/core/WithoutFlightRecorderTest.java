package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockManager;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM image without the module of the flight recorder runs the core. */
class WithoutFlightRecorderTest {
  /** The help of jlink since JDK 24, in a JDK that has no folder of modules. */
  private static final String LINKS_ITSELF = "Linking from run-time image enabled";

  private static final String PROGRAM = UsedWithoutRecorder.class.getName();

  @TempDir static Path folder;

  @BeforeAll
  static void linkAnImageWithoutTheModule() {
    assumeTrue(
        Files.isDirectory(Path.of(System.getProperty("java.home"), "jmods"))
            || jlink("--help").text().contains(LINKS_ITSELF),
        "a JDK that has the folder jmods, or that can link from its own run-time image");

    Result result = jlink("--add-modules", "java.base", "--output", image().toString());

    assertThat(result.code()).as(result.text()).isZero();
  }

  @Test
  void theClassPathOfSuchAnImageTakesLocks() throws Exception {
    Result result =
        java(
            "--class-path",
            path(placeOf(LockManager.class), placeOf(LockPrimitive.class), tests()),
            PROGRAM);

    assertThat(result.text()).contains("taken and released by unnamed module");
    assertThat(result.code()).as(result.text()).isZero();
  }

  @Test
  void theModulePathOfSuchAnImageTakesLocks() throws Exception {
    String core = LockPrimitive.class.getPackageName();
    Result result =
        java(
            "--module-path",
            path(placeOf(LockManager.class), placeOf(LockPrimitive.class)),
            "--patch-module",
            core + "=" + tests(),
            "--module",
            core + "/" + PROGRAM);

    assertThat(result.text()).contains("taken and released by module dev.holdfast.core");
    assertThat(result.code()).as(result.text()).isZero();
  }

  /** The exit code of a program and all that it wrote. */
  private record Result(int code, String text) {}

  private static Result jlink(String... arguments) {
    StringWriter text = new StringWriter();
    PrintWriter writer = new PrintWriter(text, true);
    int code = ToolProvider.findFirst("jlink").orElseThrow().run(writer, writer, arguments);
    return new Result(code, text.toString());
  }

  /** Runs a program in the image. */
  private static Result java(String... arguments) throws Exception {
    Path output = Files.createTempFile(folder, "output", ".txt");
    List<String> command = new ArrayList<>(List.of(image().resolve("bin/java").toString()));
    command.addAll(List.of(arguments));
    Process java =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(java.waitFor(100, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      java.destroyForcibly();
    }
    return new Result(java.exitValue(), Files.readString(output));
  }

  private static Path image() {
    return folder.resolve("image");
  }

  private static String tests() throws URISyntaxException {
    return placeOf(UsedWithoutRecorder.class);
  }

  private static String placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  private static String path(String... places) {
    return String.join(File.pathSeparator, places);
  }
}
