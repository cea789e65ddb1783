package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeSourceTest {
  private static final String ALTERNATIVES =
      "the embedded redis-server (-Dholdfast.testNodes=embedded), a redis-server on the PATH"
          + " (-Dholdfast.testNodes=path), any redis-server or valkey-server 6.2 or later"
          + " (-Dholdfast.testNodes=FILE), or, where there is Docker, a container"
          + " (-Dholdfast.testNodes=docker, with org.testcontainers:testcontainers on the class"
          + " path)";

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path folder;

  @Test
  void aServerIsAskedForItsVersionAgainOnlyAfterItsFileHasChanged() throws IOException {
    Path asked = folder.resolve("asked");
    String counts = "echo >>'" + asked + "'; echo 'Redis server v=";
    Path server = script(counts + "7.0.1 '");
    assertThat(ServerBinary.probe(server).version()).isEqualTo("7.0.1");
    assertThat(ServerBinary.probe(server).version()).isEqualTo("7.0.1");
    assertThat(asked).hasSize(1);

    Files.delete(server);
    script(counts + "7.0.10 '");

    assertThat(ServerBinary.probe(server).version()).isEqualTo("7.0.10");
  }

  @Test
  void theEmbeddedServerRunsHere() {
    assertThat(ServerBinary.probe(EmbeddedBinary.extracted()).version()).startsWith("6.2.");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  @EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
  void theEmbeddedServerOnAMachineWithoutItsOpenSslSaysWhatToInstall() throws IOException {
    // The names of the libraries that it asks the loader for, changed to ones that do not exist.
    String bytes = Files.readString(EmbeddedBinary.extracted(), ISO_8859_1);
    Path binary = folder.resolve("redis-server");
    Files.writeString(binary, bytes.replace("libssl.so.3", "libssl.so.0"), ISO_8859_1);
    Scripts.makeExecutable(binary);

    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("Cannot run the redis-server " + binary)
        .hasMessageContaining("error while loading shared libraries: libssl.so.0")
        .hasMessageContaining("The shared library libssl.so.0 is missing. Install OpenSSL")
        .hasMessageContaining(ALTERNATIVES);
  }

  @Test
  void aBinaryThatFailsIsShownWithItsExitCodeAndOutput() throws IOException {
    Path binary = script("echo dyld: Library not loaded: libcrypto.3.dylib >&2; exit 134");

    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("it ended with code 134: dyld: Library not loaded")
        .hasMessageContaining("The shared library libcrypto.3.dylib is missing. Install OpenSSL")
        .hasMessageContaining(ALTERNATIVES);
  }

  @Test
  void aBinaryThatIsNotThereIsNamed() {
    Path nowhere = folder.resolve("nowhere");
    assertThatThrownBy(() -> start(nowhere))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining(nowhere + ": there is no such file")
        .hasMessageContaining(ALTERNATIVES);
  }

  @Test
  void aBinaryWithoutItsLoaderIsDistinguishedFromAMissingBinary() throws IOException {
    Path binary = Files.writeString(folder.resolve("redis-server"), "#!/no/such/loader\n");
    Scripts.makeExecutable(binary);
    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("its loader is not: it was built for another libc");
  }

  @Test
  void aFileThatMayNotBeExecutedIsSaidToBeSo() throws IOException {
    Path binary = Files.writeString(folder.resolve("redis-server"), "#!/bin/sh\n");
    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("The file must be executable");
  }

  @Test
  void aProgramThatIsNoRedisIsSaidToBeNone() throws IOException {
    Path binary = script("echo some tool 1.0; echo more");
    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("it is no redis-server; --version printed: some tool 1.0.");
  }

  @Test
  void aServerThatEndsWhenItIsStartedIsShownWithItsOutput() throws IOException {
    Path binary =
        script("[ \"$1\" = --version ] && echo 'Redis server v=6.2.0' || { echo broken; exit 3; }");
    assertThatThrownBy(() -> start(binary))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining("did not start: it ended with code 3")
        .hasMessageContaining("printed: broken");
  }

  @ParameterizedTest
  @ValueSource(strings = {"7.0.15", "8.0.1", "10.0.0"})
  void debugIsAllowedExplicitlyWhereItIsForbiddenByDefault(String version) {
    assertThat(new ServerConfig(version, List.of()).needsOptionToAllowDebug()).isTrue();
    assertThat(new ServerConfig("6.2.11", List.of()).needsOptionToAllowDebug()).isFalse();
  }

  @Test
  void theSystemPropertyChoosesTheDefault() throws IOException {
    String before = System.getProperty(NodeSource.PROPERTY);
    try {
      System.clearProperty(NodeSource.PROPERTY);
      assertThat(defaultFile()).isEqualTo(EmbeddedBinary.extracted());
      System.setProperty(NodeSource.PROPERTY, "embedded");
      assertThat(defaultFile()).isEqualTo(EmbeddedBinary.extracted());
      Path wrapper = script("exec '" + EmbeddedBinary.extracted() + "' \"$@\"");
      System.setProperty(NodeSource.PROPERTY, wrapper.toString());
      assertThat(defaultFile()).isEqualTo(wrapper);
      try (TestNodes nodes = TestNodes.start(1)) {
        assertThat(nodes.node(0).command("PING")).isEqualTo("PONG");
      }
    } finally {
      if (before == null) {
        System.clearProperty(NodeSource.PROPERTY);
      } else {
        System.setProperty(NodeSource.PROPERTY, before);
      }
    }
  }

  @Test
  void theSystemPropertyMayNameAnImageForContainers() {
    String before = System.getProperty(NodeSource.PROPERTY, "");
    try {
      System.setProperty(NodeSource.PROPERTY, "docker");
      assertThat(NodeSource.byDefault()).isEqualTo(NodeSource.containers("redis:7"));
      System.setProperty(NodeSource.PROPERTY, "docker:valkey/valkey:9");
      assertThat(NodeSource.byDefault()).isEqualTo(NodeSource.containers("valkey/valkey:9"));
    } finally {
      System.setProperty(NodeSource.PROPERTY, before);
    }
  }

  @Test
  void withoutTestcontainersOnTheClassPathContainersSayWhichDependencyIsMissing() throws Exception {
    String withoutLibrary =
        Pattern.compile(Pattern.quote(File.pathSeparator))
            .splitAsStream(System.getProperty("java.class.path"))
            .filter(entry -> !entry.contains("testcontainers"))
            .collect(Collectors.joining(File.pathSeparator));
    assertThat(outputOfStart(withoutLibrary, "docker"))
        .contains("add the dependency org.testcontainers:testcontainers (2.0 or later")
        .contains(ALTERNATIVES);
    assertThat(outputOfStart(withoutLibrary, "embedded")).startsWith("6.2.");
  }

  @Test
  void containersSaySoIfNoDockerEngineAnswers() throws Exception {
    assumeThat(Path.of("/var/run/docker.sock")).as("no Docker on this machine").doesNotExist();
    assertThat(outputOfStart(System.getProperty("java.class.path"), "docker"))
        .startsWith("Docker could not find a Docker engine")
        .contains("Start Docker, or say in DOCKER_HOST where it is")
        .contains(ALTERNATIVES);
  }

  @Test
  void severalJvmsExtractTheEmbeddedServerAtTheSameTime() throws Exception {
    Map<String, String> environment = Map.of("XDG_CACHE_HOME", folder.toString());
    SecondJvm[] jvms =
        IntStream.range(0, 3)
            .mapToObj(i -> SecondJvm.run(environment, "extract", folder.toString()))
            .toArray(SecondJvm[]::new);
    for (SecondJvm jvm : jvms) {
      try (jvm) {
        Path extracted = Path.of(jvm.readLine()[0]);
        assertThat(extracted).startsWith(folder).isExecutable();
        assertThat(ServerBinary.probe(extracted).version()).startsWith("6.2.");
        assertThat(jvm.awaitExitCode()).isZero();
      }
    }
    assertThat(folder.resolve("holdfast").toFile().list()).hasSize(1);
  }

  @Test
  void aDamagedCopyOfTheEmbeddedServerIsReplaced() throws Exception {
    Path copy = extractWithCache(folder);
    Files.writeString(copy, "torn");
    assertThat(extractWithCache(folder)).isEqualTo(copy);
    assertThat(ServerBinary.probe(copy).version()).startsWith("6.2.");
  }

  @Test
  void withoutAFolderForCachesTheEmbeddedServerGoesToTheTemporaryOne() throws Exception {
    Path notAFolder = Files.writeString(folder.resolve("file"), "");
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Path copy = extractWithCache(notAFolder, temporary);
    assertThat(copy).startsWith(temporary);
    assertThat(Files.getPosixFilePermissions(copy.getParent()))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(ServerBinary.probe(copy).version()).startsWith("6.2.");
  }

  private static String outputOfStart(String classPath, String source) throws IOException {
    List<String> options = List.of("-D" + NodeSource.PROPERTY + "=" + source);
    try (SecondJvm jvm = SecondJvm.run(Map.of(), classPath, options, "default")) {
      return String.join(" ", jvm.readLine());
    }
  }

  private static Path defaultFile() {
    return ((ExecutableSource) NodeSource.byDefault()).file().get();
  }

  private Path extractWithCache(Path cache) throws Exception {
    return extractWithCache(cache, folder);
  }

  private static Path extractWithCache(Path cache, Path temporary) throws Exception {
    Map<String, String> environment = Map.of("XDG_CACHE_HOME", cache.toString());
    try (SecondJvm jvm = SecondJvm.run(environment, "extract", temporary.toString())) {
      return Path.of(jvm.readLine()[0]);
    }
  }

  private static void start(Path binary) {
    TestNodes.builder().count(1).source(NodeSource.binary(binary)).start().close();
  }

  private Path script(String commands) throws IOException {
    return Scripts.executable(folder.resolve("redis-server"), commands);
  }
}
