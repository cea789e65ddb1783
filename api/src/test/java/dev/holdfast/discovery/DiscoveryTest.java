package dev.holdfast.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.ChildJvm;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

class DiscoveryTest {
  /** A common pool exists on a machine with one processor too. */
  private static final String COMMON_POOL =
      "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2";

  private static Path folder;
  private static Path api;
  private static Path provider;
  private static Path application;

  @BeforeAll
  static void jarsAreMade(@TempDir Path temporary) {
    folder = temporary;
    api = TestJar.api(folder);
    provider =
        TestJar.named(folder.resolve("tiny-provider.jar"))
            .needing(api)
            .source("tiny.Tiny", Sources.provider("tiny", "Tiny", "tiny"))
            .services("tiny.Tiny")
            .build();
    application =
        TestJar.named(folder.resolve("application.jar"))
            .needing(api)
            .source("app.Main", Sources.APPLICATION)
            .build();
  }

  @ParameterizedTest
  @CsvSource({
    "main, AppClassLoader",
    "child-loader, URLClassLoader",
    "pool, AppClassLoader",
    "without-loader, none",
  })
  void aBackendIsFoundOnTheClassPath(String thread, String contextLoader) throws Exception {
    String printed =
        ChildJvm.run(
            folder,
            COMMON_POOL,
            "-cp",
            path(application, provider, api),
            "app.Main",
            thread,
            "tiny:");

    assertThat(printed).contains("opened by tiny.Tiny").contains("context loader " + contextLoader);
  }

  @Test
  void aBackendThatIsOnTheClassPathTwiceIsFoundOnce() throws Exception {
    String printed =
        ChildJvm.run(
            folder,
            "-cp",
            path(application, provider, TestJar.copyOf(provider), api),
            "app.Main",
            "main",
            "tiny:");

    assertThat(printed).contains("opened by tiny.Tiny");
  }

  @Test
  void withoutABackendTheErrorSaysWhichJarToAdd() throws Exception {
    String printed =
        ChildJvm.run(
            folder,
            "-cp",
            path(application, api),
            "app.Main",
            "main",
            "redlock:jedis:redis://u:secret@h1");

    assertThat(printed)
        .contains(
            """
            no backend serves redlock:jedis:redis://***@h1; add dev.holdfast:holdfast-redlock-jedis to the class path or module path
            found: none
            """);
  }

  @Test
  void aBackendIsFoundOnTheModulePath() throws Exception {
    Path providerModule =
        TestJar.named(folder.resolve("tiny-module.jar"))
            .needing(api)
            .source("tiny.Tiny", Sources.provider("tiny", "Tiny", "tiny"))
            .source(
                "module-info",
                """
                module tiny.module {
                  requires dev.holdfast.api;
                  provides dev.holdfast.spi.LockProvider with tiny.Tiny;
                }
                """)
            .build();
    Path applicationModule =
        TestJar.named(folder.resolve("application-module.jar"))
            .needing(api)
            .source("app.Main", Sources.APPLICATION)
            .source(
                "module-info",
                """
                module application {
                  requires dev.holdfast.api;
                }
                """)
            .build();

    for (String thread : new String[] {"main", "pool"}) {
      String printed =
          ChildJvm.run(
              folder,
              COMMON_POOL,
              "-p",
              path(applicationModule, providerModule, api),
              "-m",
              "application/app.Main",
              thread,
              "tiny:");

      assertThat(printed).contains("opened by tiny.Tiny");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "main, LaunchedClassLoader",
    "pool, AppClassLoader",
    "without-loader, none",
  })
  void aBackendIsFoundInASpringBootFatJar(String thread, String contextLoader) throws Exception {
    String printed = ChildJvm.run(folder, COMMON_POOL, "-jar", fatJar(), thread, "tiny:");

    assertThat(printed)
        .contains(thread.equals("main") ? "thread main" : "thread ForkJoinPool.commonPool-")
        .contains("own loader LaunchedClassLoader")
        .contains("context loader " + contextLoader)
        .contains("opened by tiny.Tiny");
  }

  @Test
  void errorInAFatJarShowsVersionAndLocationOfTheProviders() throws Exception {
    String printed = ChildJvm.run(folder, "-jar", fatJar(), "main", "redlock:letuce:redis://h1");

    assertThat(printed)
        .contains("tiny (tiny.Tiny, version 1.2.3, from jar:")
        .contains("BOOT-INF/lib/tiny-provider.jar")
        .contains("there is no driver 'letuce' here: the nearest is lettuce");
  }

  private static String fatJar() throws Exception {
    File fat = folder.resolve("fat.jar").toFile();
    if (!fat.exists()) {
      Repackager repackager = new Repackager(application.toFile());
      repackager.setMainClass("app.Main");
      repackager.repackage(
          fat,
          libraries -> {
            libraries.library(new Library(api.toFile(), LibraryScope.COMPILE));
            libraries.library(new Library(provider.toFile(), LibraryScope.COMPILE));
          });
    }
    return fat.getPath();
  }

  private static String path(Path... jars) {
    return String.join(File.pathSeparator, Arrays.stream(jars).map(Path::toString).toList());
  }
}
