package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The decisions of the launcher, with a java and an mvn that only report their calls. */
@Tag("slow")
class LauncherTest {
  private static final String JAVA =
      """
      #!/bin/sh
      for arg; do
        case $arg in
          -XX:ArchiveClassesAtExit=*) echo classes > "${arg#*=}"; exit ;;
        esac
      done
      for arg; do printf '[%s]' "$arg"; done
      echo
      """;

  /** Waits in mid-build while there is a file "hold". */
  private static final String MVN =
      """
      #!/bin/sh
      here=${0%/*}
      echo "$JAVA_HOME $*" >> "$here/calls"
      echo '[INFO] Building Holdfast API 1.0                          [1/2]'
      echo '[INFO] nothing of interest'
      echo '[INFO] Building Holdfast Command Line 1.0                 [2/2]'
      while [ -e "$here/hold" ]; do sleep 0.05; done
      if [ -e "$here/broken" ]; then echo '[ERROR] it is broken'; exit 1; fi
      mkdir -p cli/target/holdfast-1/holdfast-1/lib cli/target/holdfast-1/holdfast-1/bin
      cp cli/src/assembly/holdfast cli/target/holdfast-1/holdfast-1/bin/
      echo jar > cli/target/holdfast-1/holdfast-1/lib/holdfast-cli-1.jar
      case "$*" in *benchmarks-peers*)
        mkdir -p benchmarks-peers/target/peers
        echo jar > benchmarks-peers/target/peers/holdfast-benchmarks-peers-1.jar
        echo jar > benchmarks-peers/target/peers/spring-1.jar
      esac
      """;

  private static final String OTHER_USER = "65534";
  private static final String THIRD_USER = "65533";

  @TempDir Path folder;

  @AutoClose private final Programs programs = new Programs();
  private final Map<String, String> environment = new HashMap<>();
  private Path tree;
  private Path tools;
  private Path jdk;
  private Path launcher;
  private Path ofDistribution;

  @BeforeEach
  void makeSourceTree() throws IOException {
    tree = Files.createDirectories(folder.resolve("a tree"));
    tools = Files.createDirectories(folder.resolve("tools"));
    jdk = Files.createDirectories(folder.resolve("jdk"));
    script(jdk.resolve("bin/java"), JAVA);
    script(jdk.resolve("bin/javac"), "");
    javaVersion("17.0.9");
    script(tools.resolve("mvn"), MVN);
    launcher = tree.resolve("holdfast");
    script(launcher, Files.readString(Path.of("..", "holdfast")));
    ofDistribution = tree.resolve("cli/src/assembly/holdfast");
    script(ofDistribution, Files.readString(Path.of("src/assembly/holdfast")));
    Files.writeString(tree.resolve("pom.xml"), "");
    Files.createDirectories(tree.resolve("api/src/main/java"));
    Files.writeString(tree.resolve("api/src/main/java/A.java"), "");
    environment.put("JAVA_HOME", jdk.toString());
    environment.put("PATH", tools + ":" + System.getenv("PATH"));
    environment.put("XDG_CACHE_HOME", folder.resolve("cache").toString());
    environment.put("HOLDFAST_JAVA_OPTS", "");
  }

  @Test
  void theFirstRunBuildsAndSaysSoAndTheSecondDoesNot() throws IOException {
    Program first = launch();
    assertThat(first.exitCode()).isZero();
    assertThat(first.err())
        .contains("building, once: this command runs jars of its own")
        .contains("building Holdfast API 1.0 [1/2]")
        .contains("building Holdfast Command Line 1.0 [2/2]")
        .contains("preparing a faster start, once")
        .doesNotContain("nothing of interest");
    assertThat(builds()).singleElement().asString().startsWith(jdk + " ").contains(" package ");

    Program second = launch();
    assertThat(second.exitCode()).isZero();
    assertThat(second.err()).isEmpty();
    assertThat(builds()).hasSize(1);
  }

  @Test
  void aSourceThatChangesOrGoesIsBuilt() throws IOException {
    assertThat(launch().exitCode()).isZero();

    Files.writeString(tree.resolve("api/src/main/java/A.java"), "class A {}");
    Program changed = launch();
    assertThat(changed.exitCode()).isZero();
    assertThat(changed.err()).contains("building, once: ./api/src/main/java/A.java has changed");
    assertThat(builds()).hasSize(2);

    Files.delete(tree.resolve("api/src/main/java/A.java"));
    assertThat(launch().exitCode()).isZero();
    assertThat(builds()).hasSize(3);
  }

  @Test
  void aBuildLeavesTheJarsOfRunningCommandsAlone() throws IOException {
    Program first = launch();
    assertThat(first.exitCode()).isZero();
    Path jar = Path.of(argumentAfter("-cp", first.out()));

    Files.writeString(tree.resolve("pom.xml"), "changed");
    Program second = launch();
    assertThat(second.exitCode()).isZero();

    assertThat(jar).exists();
    assertThat(argumentAfter("-cp", second.out())).isNotEqualTo(jar.toString());
  }

  @Test
  void aBuildThatFailsShowsItsErrorsAndIsTriedAgain() throws IOException {
    Files.writeString(tools.resolve("broken"), "");
    Program failed = launch();
    assertThat(failed.exitCode()).isEqualTo(70);
    assertThat(failed.err()).contains("[ERROR] it is broken", "build.log");
    assertThat(failed.out()).isEmpty();

    Files.delete(tools.resolve("broken"));
    assertThat(launch().exitCode()).isZero();
  }

  @Test
  void twoFirstRunsAtTheSameTimeBuildOnce() throws IOException {
    Files.writeString(tools.resolve("hold"), "");
    Program first = launch().awaitErr("building Holdfast Command Line");
    Program second = launch().awaitErr("waiting for another holdfast");
    Files.delete(tools.resolve("hold"));

    assertThat(first.exitCode()).isZero();
    assertThat(second.exitCode()).isZero();
    assertThat(builds()).hasSize(1);
  }

  @Test
  void killedBuildDoesNotBlockTheNext() throws IOException {
    Files.writeString(tools.resolve("hold"), "");
    Program killed = launch().awaitErr("building Holdfast Command Line");
    killed.close();
    Files.delete(tools.resolve("hold"));

    assertThat(launch().exitCode()).isZero();
  }

  @Test
  void runsFromAnyFolderThroughLinksAndPassesArgumentsAsTheyAre() throws IOException {
    assertThat(launch().exitCode()).isZero();
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("a tree", "holdfast"));
    Path linkToLink = Files.createSymbolicLink(folder.resolve("link to link"), link);

    Program run = launch(linkToLink, "run", "--", "a  b", "", "*", "$x", "'\"");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).endsWith("[dev.holdfast.cli.Main][run][--][a  b][][*][$x]['\"]\n");
  }

  @Test
  void eachJavaHasAnArchiveOfItsOwn() throws IOException {
    assertThat(launch().exitCode()).isZero();

    javaVersion("25.0.1");
    Program other = launch();
    assertThat(other.exitCode()).isZero();
    assertThat(other.err()).isEqualTo("holdfast: preparing a faster start, once\n");
    assertThat(other.out()).contains("holdfast-cli-1-25-0-1-");

    javaVersion("17.0.9");
    Program first = launch();
    assertThat(first.exitCode()).isZero();
    assertThat(first.err()).isEmpty();
    assertThat(first.out()).contains("holdfast-cli-1-17-0-9-");
  }

  @Test
  void javaWithoutClassDataSharingRunsWithoutAnArchive() throws IOException {
    script(jdk.resolve("bin/java"), JAVA.replace("echo classes >", "exit 1; echo >"));

    Program first = launch();
    assertThat(first.exitCode()).isZero();
    assertThat(first.out()).doesNotContain("SharedArchiveFile");
    assertThat(launch().err()).isEmpty();
  }

  @Test
  void jarsThatANewVersionHasReplacedAreNotCopied() throws IOException {
    assertThat(launch().exitCode()).isZero();
    Files.writeString(tree.resolve("cli/target/holdfast-1/holdfast-1/lib/replaced-1.jar"), "");

    Files.writeString(tree.resolve("pom.xml"), "changed");
    Program run = launch();

    assertThat(run.exitCode()).as(run.err()).isZero();
    Path jar = Path.of(argumentAfter("-cp", run.out()));
    assertThat(jar).exists().hasFileName("holdfast-cli-1.jar");
    assertThat(jar.resolveSibling("replaced-1.jar")).doesNotExist();
  }

  @Test
  void benchAloneHasTheLocksOfOthersAndTheCompilerThatJavaChooses() throws IOException {
    Program other = launch();
    assertThat(other.exitCode()).as(other.err()).isZero();
    assertThat(other.out()).contains("[-XX:TieredStopAtLevel=1]").doesNotContain("peers");

    Program bench = launch(launcher, "bench");

    assertThat(bench.exitCode()).as(bench.err()).isZero();
    assertThat(bench.err()).contains("building, once: bench measures the locks of others as well");
    assertThat(bench.out()).doesNotContain("TieredStopAtLevel", "UseSerialGC");
    assertThat(argumentAfter("-cp", bench.out()).replaceAll("[^:]*/", ""))
        .isEqualTo("holdfast-cli-1.jar:holdfast-benchmarks-peers-1.jar:spring-1.jar");
    Program again = launch(launcher, "bench");
    assertThat(again.exitCode()).isZero();
    assertThat(again.err()).isEmpty();
    Program more = launch(launcher, "--class-path", "bench", "bench");
    assertThat(more.exitCode()).isZero();
    assertThat(more.out()).contains("spring-1.jar").doesNotContain("TieredStopAtLevel");
    assertThat(launch(launcher, "--class-path", "bench", "run").out()).doesNotContain("peers");
    assertThat(launch().out()).doesNotContain("peers");
    assertThat(builds()).hasSize(2);
  }

  @Test
  void aDistributionIsNotBuilt() throws IOException {
    Path bin = Files.createDirectories(folder.resolve("dist/bin"));
    Path lib = Files.createDirectories(folder.resolve("dist/lib"));
    Files.writeString(lib.resolve("holdfast-cli-1.jar"), "");
    Files.copy(ofDistribution, bin.resolve("holdfast"));

    Program run = launch(bin.resolve("holdfast"), "x");

    assertThat(run.exitCode()).isZero();
    assertThat(argumentAfter("-cp", run.out()))
        .isEqualTo(lib.toRealPath().resolve("holdfast-cli-1.jar").toString());
    assertThat(tools.resolve("calls")).doesNotExist();
  }

  @Test
  void theArchiveOfAFolderThatCannotBeWrittenIsInTheCache() throws IOException {
    Path bin = readOnlyDistribution();
    Path cache = sharedCache();

    Program run = startWithoutWriting(OTHER_USER, bin, List.of());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("-XX:SharedArchiveFile=" + cache);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-uHOME", "HOME=", "HOME=/proc"})
  void thereIsNoArchiveWithoutAHomeThatCanBeWritten(String home) throws IOException {
    Path bin = readOnlyDistribution();

    Program run =
        startWithoutWriting(OTHER_USER, bin, List.of("env", "-u", "XDG_CACHE_HOME", home));

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("[dev.holdfast.cli.Main]").doesNotContain("SharedArchiveFile");
    assertThat(run.err()).isEmpty();
  }

  /** Another user has made the archive, or the folder that we could make it in, or both. */
  @ParameterizedTest
  @ValueSource(strings = {"archive", "folder", "archive and folder"})
  void anArchiveThatAnotherUserCanWriteIsNotUsed(String theirs) throws IOException {
    assumeThat(System.getProperty("user.name")).as("who can be two other users").isEqualTo("root");
    Path bin = readOnlyDistribution();
    Path cache = sharedCache();
    Program other = startWithoutWriting(OTHER_USER, bin, List.of());
    assertThat(other.exitCode()).as(other.err()).isZero();
    assertThat(other.out()).contains("-XX:SharedArchiveFile=" + cache);
    Path archive = Path.of(other.out().replaceAll("(?s).*SharedArchiveFile=([^]]*).*", "$1"));
    Path parent = Objects.requireNonNull(archive.getParent());
    permit(parent, "rwxrwxrwx");
    if (!theirs.contains("folder")) {
      assertThat(start(List.of("chown", THIRD_USER, "" + parent)).exitCode()).isZero();
    }
    if (!theirs.contains("archive")) {
      Files.delete(archive);
    }

    Program run = startWithoutWriting(THIRD_USER, bin, List.of());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("[dev.holdfast.cli.Main]").doesNotContain("SharedArchiveFile");
  }

  private Path readOnlyDistribution() throws IOException {
    Path bin = Files.createDirectories(folder.resolve("dist/bin"));
    Path lib = Files.createDirectories(folder.resolve("dist/lib"));
    Files.writeString(lib.resolve("holdfast-cli-1.jar"), "");
    Files.copy(ofDistribution, bin.resolve("holdfast"));
    permit(lib, "r-xr-xr-x");
    permit(folder, "rwxr-xr-x");
    return bin;
  }

  private Path sharedCache() throws IOException {
    Path cache = Files.createDirectories(folder.resolve("cache"));
    permit(cache, "rwxrwxrwx");
    return cache;
  }

  /** Root can write everywhere, so root becomes another user. */
  private Program startWithoutWriting(String user, Path bin, List<String> with) {
    List<String> command = new ArrayList<>();
    if (Files.isWritable(bin.resolveSibling("lib"))) {
      command.addAll(List.of("setpriv", "--reuid=" + user, "--clear-groups"));
    }
    command.addAll(with);
    command.addAll(List.of(onPath("bash").toString(), bin.resolve("holdfast").toString(), "x"));
    return start(command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"11.0.2", "1.8.0_392", "16"})
  void anOldJavaIsRefused(String version) throws IOException {
    javaVersion(version);

    Program run = launch();

    assertThat(run.exitCode()).isEqualTo(64);
    assertThat(run.err()).contains("Java " + version, "needs 17", "JAVA_HOME").hasLineCount(1);
  }

  @Test
  void aJavaWithoutAReleaseFileIsAsked() throws IOException {
    Files.delete(jdk.resolve("release"));
    script(jdk.resolve("bin/java"), "#!/bin/sh\necho 'openjdk version \"11.0.7\" 2020' >&2\n");

    assertThat(launch().awaitErr("Java 11.0.7").exitCode()).isEqualTo(64);
  }

  @Test
  void aWrongJavaHomeIsNamed() {
    environment.put("JAVA_HOME", "/no/such/jdk");

    assertThat(launch().awaitErr("JAVA_HOME is /no/such/jdk").exitCode()).isEqualTo(64);
  }

  @Test
  void aMissingToolIsNamed() throws IOException {
    Path few = Files.createDirectories(folder.resolve("few"));
    for (String tool : List.of("find", "flock", "mkdir")) {
      script(few.resolve(tool), "#!/bin/sh\nexec " + onPath(tool) + " \"$@\"\n");
    }
    environment.put("PATH", few.toString());
    assertThat(launch().awaitErr("there is no mvn").exitCode()).isEqualTo(64);

    environment.put("JAVA_HOME", "");
    assertThat(launch().awaitErr("there is no java").exitCode()).isEqualTo(64);

    environment.put("JAVA_HOME", jdk.toString());
    environment.put("PATH", tools + ":" + few);
    Files.delete(jdk.resolve("bin/javac"));
    assertThat(launch().awaitErr("not only a JRE").exitCode()).isEqualTo(64);
  }

  @Test
  void onATerminalItSaysHowWideThatIs() {
    assumeThat(Path.of("/proc/self/stat")).as("script has other options elsewhere").exists();
    environment.put("LAUNCHER", launcher.toString());

    Program terminal =
        programs.start(
            environment,
            List.of("script", "-qfec", "stty cols 61 rows 20; \"$LAUNCHER\" x", "/dev/null"));

    assertThat(terminal.exitCode()).isZero();
    assertThat(terminal.out())
        .contains("[-Dholdfast.terminal.out=true]", "[-Dholdfast.terminal.columns=61]");
    assertThat(launch().out()).doesNotContain("holdfast.terminal.columns");
  }

  private Program launch() {
    return launch(launcher, "x");
  }

  private Program launch(Path script, String... args) {
    List<String> command = new ArrayList<>(List.of(onPath("bash").toString(), script.toString()));
    command.addAll(List.of(args));
    return start(command);
  }

  private Program start(List<String> command) {
    return programs.start(environment, command);
  }

  private List<String> builds() throws IOException {
    return Files.readAllLines(tools.resolve("calls"));
  }

  private void javaVersion(String version) throws IOException {
    Files.writeString(
        jdk.resolve("release"), "IMPLEMENTOR=\"us\"\nJAVA_VERSION=\"" + version + "\"\n");
  }

  private static String argumentAfter(String option, String shown) {
    String start = "[" + option + "][";
    int from = shown.indexOf(start) + start.length();
    return shown.substring(from, shown.indexOf(']', from));
  }

  private static Path onPath(String tool) {
    for (String place : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(place, tool))) {
        return Path.of(place, tool);
      }
    }
    throw new AssertionError("no " + tool);
  }

  private static void script(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
    permit(file, "rwxr-xr-x");
  }

  private static void permit(Path file, String permissions) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }
}
