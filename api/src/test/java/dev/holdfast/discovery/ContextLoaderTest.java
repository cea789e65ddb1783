package dev.holdfast.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.testsupport.Rule;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.ServiceConfigurationError;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backends that the API's own class loader does not see: those of a container, and broken ones. */
@Timeout(30)
class ContextLoaderTest {
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final Path api = TestJar.compiledApi();
  private final Path folder;

  ContextLoaderTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void theThreadsLoaderIsItsOwnAgain() throws IOException {
    if (Thread.currentThread().getContextClassLoader() instanceof URLClassLoader used) {
      used.close();
    }
    Thread.currentThread().setContextClassLoader(before);
  }

  @Test
  void aBackendThatOnlyTheThreadSeesIsFound() throws Exception {
    useAsContext(tiny("tiny").build());

    try (LockManager manager = LockManager.open("tiny:")) {
      assertThat(manager.unwrap(String.class)).contains("opened by tiny.Tiny");
    }
  }

  @Test
  @Rule("DISC-5")
  @DisplayName("a backend that only the class loader of the builder sees is found")
  void aBackendThatOnlyTheGivenLoaderSeesIsFound() throws Exception {
    URL jar = tiny("tiny").build().toUri().toURL();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, before);
        LockManager manager = LockManager.builder("tiny:").classLoader(loader).open()) {
      assertThat(manager.unwrap(String.class)).contains("opened by tiny.Tiny");
    }
    assertThatThrownBy(() -> LockManager.open("tiny:"))
        .isInstanceOf(LockConfigurationException.class);
  }

  @Test
  void twoBackendsForOneUrlAreListedWithTheUrlsThatChooseOne() throws Exception {
    useAsContext(
        tiny("one").build(),
        TestJar.named(folder.resolve("other.jar"))
            .needing(api)
            .source("other.Other", Sources.provider("other", "Other", "two"))
            .services("other.Other")
            .build());

    assertThatThrownBy(() -> LockManager.open("redlock:redis://u:secret@h1?a=b"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("several backends serve redlock:redis://***@h1?a=b; choose one")
        .hasMessageContaining("one (tiny.Tiny, version 1.2.3, from file:")
        .hasMessageContaining("write redlock:one:redis://***@h1?a=b")
        .hasMessageContaining("two (other.Other, version 1.2.3, from file:")
        .hasMessageContaining("write redlock:two:redis://***@h1?a=b");
    try (LockManager manager = LockManager.open("redlock:two:redis://h1")) {
      assertThat(manager.unwrap(String.class)).contains("opened by other.Other");
    }
  }

  @Test
  @Rule("DISC-3")
  @DisplayName("a backend that cannot be loaded is skipped for one that can")
  void aBackendThatCannotBeLoadedIsSkippedForOneThatCan() throws Exception {
    useAsContext(tiny("tiny").services("gone.Missing", "tiny.Tiny").build());

    try (LockManager manager = LockManager.open("tiny:")) {
      assertThat(manager.unwrap(String.class)).contains("opened by tiny.Tiny");
    }
  }

  @Test
  void aBackendWhoseClassIsMissingIsListed() throws Exception {
    useAsContext(tiny("tiny").services("gone.Missing").build());

    assertThatNothingServes("memory:")
        .hasMessageContaining("broken:")
        .hasMessageContaining("gone.Missing not found")
        .hasMessageContaining("add dev.holdfast:holdfast-memory")
        .hasCauseInstanceOf(ServiceConfigurationError.class);
  }

  @Test
  void backendWhoseConstructorThrowsIsListed() throws Exception {
    useAsContext(
        tinyWith("public Tiny() { throw new IllegalStateException(\"no licence\"); }").build());

    assertThatNothingServes("tiny:")
        .hasMessageContaining("tiny.Tiny could not be instantiated")
        .hasRootCauseMessage("no licence");
  }

  @Test
  void aBackendWhoseInitializerFailsIsListed() throws Exception {
    useAsContext(tinyWith("static { if (true) throw new IllegalStateException(); }").build());

    assertThatNothingServes("tiny:").hasMessageContaining("tiny.Tiny");
  }

  @Test
  void aBackendWhoseLibraryIsMissingIsListed() throws Exception {
    Path driver =
        TestJar.named(folder.resolve("driver.jar"))
            .source("driver.Base", "package driver; public class Base {}")
            .build();
    String extending =
        Sources.provider("tiny", "Tiny", "tiny")
            .replace("class Tiny implements", "class Tiny extends driver.Base implements");
    useAsContext(
        TestJar.named(folder.resolve("tiny.jar"))
            .needing(api, driver)
            .source("tiny.Tiny", extending)
            .services("tiny.Tiny")
            .build());

    assertThatNothingServes("tiny:").hasMessageContaining("driver/Base");
  }

  @Test
  void aBackendThatImplementsAnotherCopyOfTheApiIsListed() throws Exception {
    Thread.currentThread()
        .setContextClassLoader(
            new URLClassLoader(
                urls(tiny("tiny").build(), TestJar.api(folder)),
                ClassLoader.getPlatformClassLoader()));

    assertThatNothingServes("tiny:").hasMessageContaining("tiny.Tiny not a subtype");
  }

  @Test
  void aBackendThatLacksAMethodOfThisApiIsListedAsMadeForAnother() throws Exception {
    useAsContext(madeForAnotherApi("public String name() { return \"tiny\"; }").build());

    assertThatThrownBy(() -> LockManager.open("tiny:"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("cannot be used: tiny (tiny.Tiny, version 1.2.3, from file:")
        .hasMessageContaining("made for another version of this API")
        .hasMessageContaining("use the same version of both")
        .hasCauseInstanceOf(AbstractMethodError.class);
  }

  @Test
  void backendThatNeedsANewerApiIsReported() throws Exception {
    useAsContext(
        madeForAnotherApi(
                """
                public String name() { return "new"; }
                public boolean accepts(dev.holdfast.spi.LockUrl url) { return true; }
                public dev.holdfast.LockManager open(dev.holdfast.spi.LockUrl url) {
                  url.methodOfTheFuture();
                  return null;
                }
                """)
            .build());

    assertThatThrownBy(() -> LockManager.open("tiny:"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("cannot be used: new (tiny.Tiny, version 1.2.3, from file:")
        .hasMessageContaining("made for another version of this API")
        .hasMessageContaining("methodOfTheFuture")
        .hasCauseInstanceOf(NoSuchMethodError.class);
  }

  @Test
  void endlesslyFailingLoaderIsAbandoned() {
    Thread.currentThread()
        .setContextClassLoader(
            new ClassLoader(null) {
              @Override
              public Enumeration<URL> getResources(String name) throws IOException {
                throw new IOException("disk gone");
              }
            });

    assertThatNothingServes("tiny:").hasMessageContaining("broken:").hasNoSuppressedExceptions();
  }

  private static AbstractThrowableAssert<?, ?> assertThatNothingServes(String url) {
    return assertThatThrownBy(() -> LockManager.open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageStartingWith("no backend serves " + url + "; ");
  }

  private TestJar tiny(String name) {
    return TestJar.named(folder.resolve("tiny.jar"))
        .needing(api)
        .source("tiny.Tiny", Sources.provider("tiny", "Tiny", name))
        .services("tiny.Tiny");
  }

  private TestJar tinyWith(String member) {
    String source = Sources.provider("tiny", "Tiny", "tiny");
    int brace = source.indexOf("LockProvider {") + "LockProvider {".length();
    return TestJar.named(folder.resolve("tiny.jar"))
        .needing(api)
        .source("tiny.Tiny", source.substring(0, brace) + member + source.substring(brace))
        .services("tiny.Tiny");
  }

  /** Compiled against an API of another version, and run with this one. */
  private TestJar madeForAnotherApi(String members) {
    Path anotherApi =
        TestJar.named(folder.resolve("another-api.jar"))
            .source(
                "dev.holdfast.spi.LockProvider",
                "package dev.holdfast.spi; public interface LockProvider { String name(); }")
            .source(
                "dev.holdfast.spi.LockUrl",
                "package dev.holdfast.spi; public class LockUrl { public void methodOfTheFuture() {} }")
            .source(
                "dev.holdfast.LockManager", "package dev.holdfast; public interface LockManager {}")
            .build();
    return TestJar.named(folder.resolve("tiny.jar"))
        .needing(anotherApi)
        .source(
            "tiny.Tiny",
            "package tiny; public class Tiny implements dev.holdfast.spi.LockProvider {"
                + members
                + "}")
        .services("tiny.Tiny");
  }

  private void useAsContext(Path... jars) throws Exception {
    Thread.currentThread().setContextClassLoader(new URLClassLoader(urls(jars), before));
  }

  private static URL[] urls(Path... jars) throws Exception {
    URL[] urls = new URL[jars.length];
    for (int i = 0; i < jars.length; i++) {
      urls[i] = jars[i].toUri().toURL();
    }
    return urls;
  }
}
