package dev.holdfast.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.cli.ThirdParty;
import dev.holdfast.testnodes.TestNodes;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.TypeConversionException;

/** {@code --class-path}: its entries, and a jar that a third party has made. */
@Tag("slow")
class ClassPathTest {
  @TempDir Path folder;

  @AutoClose private final Programs programs = new Programs();

  @Test
  void aBackendOfAThirdPartyIsUsedInEachPlaceOfTheOption() {
    String jar = ThirdParty.backend(folder).toString();
    String[] run = {"run", "--url", "third:", "--name", "job", "--", "echo", "ran"};

    Program before = holdfast("--class-path", jar, run);
    Program without = programs.inThisJvm(run);
    Program after =
        programs.inThisJvm(
            "run", "--class-path=" + jar, "--url", "third:", "--name", "job", "echo", "ran");
    Program status = programs.inThisJvm("--class-path", jar, "status", "--url", "third:", "job");
    Program release =
        programs.inThisJvm("release", "--force", "job", "-y", "--url=third:", "--class-path", jar);

    assertThat(without.exitCode()).isEqualTo(64);
    assertThat(without.err()).contains("no backend serves third:");
    assertThat(before.exitCode()).as(before.err()).isZero();
    assertThat(before.out()).isEqualTo("ran\n");
    assertThat(after.exitCode()).as(after.err()).isZero();
    assertThat(after.out()).isEqualTo("ran\n");
    assertThat(status.exitCode()).as(status.err()).isEqualTo(1);
    assertThat(status.out()).isEqualTo("job: free\n");
    assertThat(release.exitCode()).as(release.err()).isEqualTo(1);
  }

  @Test
  void backendWithAMissingClassIsReported() {
    String jar = ThirdParty.unfinished(folder).toString();

    Program status =
        programs.inThisJvm("--class-path", jar, "status", "--url", "unfinished:", "job");

    assertThat(status.exitCode()).as(status.err()).isEqualTo(70);
    assertThat(status.err()).contains("NoClassDefFoundError", "org/Missing");
    assertThat(status.out()).isEmpty();
  }

  @Test
  void aClassPathWithoutABackendIsWarnedOf() {
    Program without =
        programs.inThisJvm("--class-path", folder.toString(), "status", "--url", "third:", "job");
    Program with =
        programs.inThisJvm(
            "--class-path",
            ThirdParty.backend(folder) + File.pathSeparator + folder,
            "status",
            "--url",
            "third:",
            "job");

    assertThat(without.exitCode()).as(without.err()).isEqualTo(64);
    assertThat(without.err())
        .contains(
            "no backend serves third:",
            "no backend in --class-path: no entry has a file"
                + " META-INF/services/dev.holdfast.spi.LockProvider");
    assertThat(with.err()).doesNotContain("no backend in --class-path");
  }

  @Test
  void theDemoAndItsWorkersUseADriverOfAThirdParty() {
    String jar = ThirdParty.driver(folder).toString();

    Program unknown = programs.inThisJvm("demo", "--driver", "mine");
    Program demo =
        programs.holdfast(
            "demo",
            "--driver",
            "mine",
            "--class-path",
            jar,
            "--seconds=1",
            "--workers=2",
            "--json");

    assertThat(unknown.exitCode()).isEqualTo(64);
    assertThat(unknown.err()).contains("no driver 'mine'; found: jedis, lettuce, redisson");
    assertThat(demo.exitCode()).as(demo.err()).isZero();
    assertThat(demo.out()).contains("\"valid\": true", "\"updatesLost\": 0");
  }

  @Test
  void otherOrBrokenDriversDoNotPreventLettuce() {
    Path driver = ThirdParty.driver(folder);
    Path broken = ThirdParty.broken(folder);
    try (TestNodes nodes = TestNodes.start(1)) {
      Program run =
          programs.inThisJvm(
              "--class-path",
              broken + File.pathSeparator + driver,
              "run",
              "--url",
              Nodes.url(nodes),
              "--name",
              "job",
              "echo",
              "ran");

      assertThat(run.exitCode()).as(run.err()).isZero();
      assertThat(run.out()).isEqualTo("ran\n");
    }
  }

  @Test
  void entriesAreJarsFoldersAndAllJarsOfAFolderInOrder() throws Exception {
    Path jar = ThirdParty.backend(folder);
    Path jars = Files.createDirectory(folder.resolve("jars"));
    Path second = Files.copy(jar, jars.resolve("b.jar"));
    Path first = Files.copy(jar, jars.resolve("a.JAR"));
    Files.writeString(jars.resolve("notes.txt"), "not a jar");
    Files.createDirectory(jars.resolve("inner"));
    Path classes = folder.resolve("third");

    ClassPath path =
        new ClassPath.Converter()
            .convert(String.join(File.pathSeparator, classes + "", jars + "/*", jar + ""));

    assertThat(path.entries()).containsExactly(classes, first, second, jar);
  }

  @ParameterizedTest
  @CsvSource({
    "nowhere.jar, there is no 'F/nowhere.jar'",
    "nowhere/*, there is no folder 'F/nowhere/'",
    "empty/*, there is no jar in 'F/empty/'",
    "text.jar, 'F/text.jar' cannot be read as a jar",
    "'text.jar:', cannot be read",
    "':', an entry is empty",
  })
  void aMissingEntryIsAnError(String entry, String message) throws Exception {
    Files.createDirectory(folder.resolve("empty"));
    Files.writeString(folder.resolve("text.jar"), "text");
    String given = entry.startsWith(":") ? entry : folder + "/" + entry;

    assertThatThrownBy(() -> new ClassPath.Converter().convert(given))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining(message.replace("F/", folder + "/"));
  }

  @Test
  void anEntryThatIsNotThereEndsTheCommandWith64() {
    Program backends = programs.inThisJvm("backends", "--class-path", "/no/such.jar");

    assertThat(backends.exitCode()).isEqualTo(64);
    assertThat(backends.err()).startsWith("holdfast: ").contains("--class-path", "'/no/such.jar'");
    assertThat(backends.out()).isEmpty();
  }

  private Program holdfast(String option, String value, String[] command) {
    List<String> args = new ArrayList<>(List.of(option, value));
    args.addAll(List.of(command));
    return programs.holdfast(args.toArray(new String[0]));
  }
}
