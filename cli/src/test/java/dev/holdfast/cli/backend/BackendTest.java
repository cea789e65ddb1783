package dev.holdfast.cli.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackendTest {
  private static final String NODES = "redis://127.0.0.1:1,redis://127.0.0.1:2";

  @TempDir Path folder;

  @Test
  void urlOverridesTheDefaults() {
    assertThatThrownBy(() -> new Backend("redlock:" + NODES + "?connect=soon").lazy().open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("'soon'");
  }

  @Test
  void otherBackendsAreLeftAsTheyAre() {
    try (LockManager locks = new Backend("memory:").lazy().open()) {
      assertThat(locks.capabilities()).isNotEmpty();
    }
  }

  @Test
  void bothSidesOfAMigrationAreCompletedAsIfTheyStoodAlone() {
    Backend both =
        new Backend("migrate:both?from=setnx:redis://127.0.0.1:1?unit=ms&to=redlock:" + NODES);

    assertThatThrownBy(() -> LockManager.open(both.url()))
        .hasMessageContaining("several backends serve");
    both.lazy().open().close(); // which connects to neither
  }

  @Test
  void errorInAMigrationUrlIsShownAtItsPosition() {
    Backend wrong = new Backend("migrate:to?from=setnx:redis://h&to=redlock:redis://h:x");

    assertThatThrownBy(wrong::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("option to: ", "a port is a number");
  }

  @Test
  void picksLettuceWhereSeveralDriversAreThere() throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(LockProvider.class.getName()), OtherProvider.class.getName());
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader both = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(both);
      assertThatThrownBy(() -> LockManager.open("redlock:" + NODES + "?connect=lazy"))
          .hasMessageContaining("several backends serve");

      new Backend("redlock:" + NODES).lazy().open().close();

      assertThatThrownBy(() -> new Backend("redlock:other:" + NODES).open())
          .hasMessage("the other driver was chosen");
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
