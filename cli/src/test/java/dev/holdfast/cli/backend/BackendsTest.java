package dev.holdfast.cli.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.ThirdParty;
import dev.holdfast.cli.process.Jvm;
import dev.holdfast.cli.report.JsonTest;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code holdfast backends}, as a process where its jars are what matters. */
@Tag("slow")
class BackendsTest {
  @TempDir Path folder;

  @Test
  void showsEachWithItsUrlsAndTheVersionOfItsDriver() {
    try (Program backends = Program.holdfast("backends")) {
      assertThat(backends.exitCode()).as(backends.err()).isZero();

      assertThat(backends.out())
          .contains("serves  redlock:  redlock:lettuce:", "serves  redlock:  redlock:jedis:")
          .contains("serves  redlock:  redlock:redisson:", "serves  memory:\n")
          .contains("class   dev.holdfast.redlock.lettuce.LettuceProvider")
          .containsPattern("driver  /.*lettuce-core-([0-9.]+)\\.RELEASE\\.jar \\(\\1\\.RELEASE\\)")
          .containsPattern("driver  /.*jedis-([0-9.]+)\\.jar \\(\\1\\)")
          .containsPattern("driver  /.*redisson-([0-9.]+)\\.jar \\(\\1\\)")
          .doesNotContain("BROKEN");
      assertThat(backends.err()).isEmpty();
    }
  }

  @Test
  void aBrokenOneIsShownWithItsCauseAndEndsItWith1() {
    Path broken = ThirdParty.broken(folder);
    String classPath = broken + File.pathSeparator + ThirdParty.backend(folder);

    try (Program text = Program.holdfast("backends", "--class-path", classPath);
        Program json = Program.inThisJvm("backends", "--class-path", classPath, "--json")) {
      assertThat(text.exitCode()).as(text.err()).isEqualTo(1);
      assertThat(text.out())
          .contains("BROKEN  ", "IllegalStateException: no licence", "jar     " + broken)
          .contains("third\n  serves  third:\n  class   org.third.Third\n");
      assertThat(json.exitCode()).as(json.err()).isEqualTo(1);
      assertThat(json.out())
          .hasLineCount(1)
          .startsWith("[{\"name\": ")
          .contains("\"class\": \"org.third.Broken\", \"jar\": \"" + broken + "\"")
          .contains("\"serves\": [\"redlock:\", \"redlock:lettuce:\"], \"broken\": false}")
          .contains("\"serves\": [], \"broken\": true, \"why\": \"");
    }
  }

  @Test
  void aProviderThatCannotBeLoadedIsShownOnceAndHidesNoOther() throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(
        services.resolve("dev.holdfast.spi.LockProvider"),
        "no.such.Provider\n" + JsonTest.class.getName() + "\n" + OtherProvider.class.getName());

    List<FoundBackend> all = foundWith(folder.toUri().toURL());

    assertThat(all.stream().filter(backend -> backend.broken().isPresent()))
        .satisfiesExactly(
            one -> assertThat(one.text()).contains("no.such.Provider"),
            one -> assertThat(one.text()).contains("JsonTest not a subtype"));
    assertThat(all)
        .filteredOn(backend -> backend.name().equals(Optional.of("other")))
        .singleElement()
        .satisfies(
            other -> assertThat(other.serves()).containsExactly("redlock:", "redlock:other:"));
  }

  @Test
  void aDriverThatIsMissingIsNamed() throws IOException {
    Distribution.layOut(folder);
    try (Stream<Path> jars = Files.list(folder.resolve("lib"))) {
      for (Path jar :
          jars.filter(jar -> jar.toString().matches(".*/\\d+-jedis-[0-9.]+\\.jar")).toList()) {
        Files.delete(jar);
      }
    }
    // Without the launcher, which would make an archive of classes for this one command.
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            folder.resolve("lib") + "/*",
            Jvm.MAIN,
            "backends");

    try (Program backends = Program.start(Map.of(), command)) {
      assertThat(backends.exitCode()).as(backends.err()).isEqualTo(1);
      assertThat(backends.out())
          .contains(
              "jedis\n  BROKEN  its driver is missing: there is no redis.clients.jedis.Jedis\n");
    }
  }

  private static List<FoundBackend> foundWith(URL entry) throws IOException {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader more = new URLClassLoader(new URL[] {entry}, before)) {
      thread.setContextClassLoader(more);
      return FoundBackend.all();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
