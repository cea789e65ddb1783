package dev.holdfast.drivertests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNodes;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program on the module path that has the driver's module and its declared dependencies. */
public abstract class ModulePathContract {
  /** Written by the build: all that users get with the module. */
  private static final Path RUNTIME_PATH = Path.of("target/runtime-path.txt");

  private static final long LIMIT_SECONDS = 60;

  private final String driver;

  /**
   * For each test.
   *
   * @param driver its name in URLs, and the last word of its module's
   */
  protected ModulePathContract(String driver) {
    this.driver = driver;
  }

  @Test
  void theDriverStartsWithItsDeclaredDependenciesOnTheModulePath(@TempDir Path folder)
      throws Exception {
    Path log = folder.resolve("log");
    try (TestNodes nodes = TestNodes.start(3)) {
      Process program =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "--module-path",
                  "target/classes" + File.pathSeparator + Files.readString(RUNTIME_PATH).strip(),
                  "--add-modules",
                  "dev.holdfast.redlock." + driver,
                  "--class-path",
                  ownClasses().toString(),
                  OneLock.class.getName(),
                  "redlock:"
                      + driver
                      + ":"
                      + String.join(",", nodes.uris())
                      + "?quorumTimeout=5s&connectTimeout=20s")
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      try {
        assertThat(program.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).as("it ends").isTrue();
      } finally {
        program.destroyForcibly();
      }
    }
    assertThat(log).content().contains("held, by module dev.holdfast.api");
  }

  /** The folder of the program. Nothing else is there that a driver could use. */
  private static Path ownClasses() throws Exception {
    return Path.of(OneLock.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
