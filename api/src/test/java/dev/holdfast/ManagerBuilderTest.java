package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class ManagerBuilderTest {
  private static final Executor EXECUTOR = Runnable::run;

  private final List<String> opened = new ArrayList<>();
  private final List<OpenSettings> seen = new ArrayList<>();

  @Test
  void optionsReplaceThoseOfTheUrlAndTheLastOneCounts() {
    LockManager.builder("a:?x=1&y=1")
        .option("x", "2")
        .options(Map.of("x", "3", "z", "a&b"))
        .providers(List.of(new Current()))
        .open();

    assertThat(opened).containsExactly("x=3 y=1 z=a&b");
  }

  @Test
  void theExecutorReachesTheBackend() {
    LockManager.builder("a:").callbackExecutor(EXECUTOR).providers(List.of(new Current())).open();

    assertThat(seen.get(0).callbackExecutor()).containsSame(EXECUTOR);
  }

  @Test
  void theWallClockReachesTheBackend() {
    InstantSource clock = InstantSource.fixed(Instant.EPOCH);

    LockManager.builder("a:")
        .wallClock(clock)
        .callbackExecutor(EXECUTOR)
        .listener(new LockListener() {})
        .classLoader(getClass().getClassLoader())
        .providers(List.of(new Current()))
        .open();

    assertThat(seen.get(0).wallClock()).containsSame(clock);
    assertThat(OpenSettings.none().wallClock()).isEmpty();
  }

  @Test
  void eachListenerReachesTheBackend() {
    LockListener one = new LockListener() {};
    LockListener other = new LockListener() {};
    ManagerBuilder builder =
        LockManager.builder("a:").listener(one).providers(List.of(new Current()));

    builder.open();
    builder.listener(other).open();

    assertThat(seen.get(0).listeners()).containsExactly(one);
    assertThat(seen.get(1).listeners()).containsExactly(one, other);
  }

  @Test
  void shortFormsOpenWithDefaults() {
    LockManager.open("a:", Map.of("x", "2"), List.of(new Current()));

    assertThat(opened).containsExactly("x=2 y=? z=?");
    assertThat(seen.get(0).callbackExecutor()).isEmpty();
    assertThat(seen.get(0).listeners()).isEmpty();
    assertThat(seen.get(0).classLoader())
        .containsSame(Thread.currentThread().getContextClassLoader());
  }

  @Test
  void theClassLoaderIsAskedInPlaceOfThatOfTheThread() throws Exception {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[0], before)) {
      LockManager.builder("a:").classLoader(loader).providers(List.of(new Current())).open();

      assertThat(seen.get(0).classLoader()).containsSame(loader);
    }
  }

  @Test
  void aBackendForUrlsAloneOpensWithoutSettingsAndRefusesOthers() {
    List<LockProvider> old = List.of(new Old());

    LockManager.builder("a:").providers(old).open();
    assertThat(opened).containsExactly("old");
    assertThatThrownBy(
            () -> LockManager.builder("a:").callbackExecutor(EXECUTOR).providers(old).open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the backend 'old' takes no callback executor: leave it out, or use a version of the"
                + " backend that implements LockProvider.open(url, settings)");
    assertThatThrownBy(
            () -> LockManager.builder("a:").wallClock(InstantSource.system()).providers(old).open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageStartingWith("the backend 'old' takes no wall clock: leave it out, or use");
    assertThatThrownBy(
            () -> LockManager.builder("a:").listener(new LockListener() {}).providers(old).open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the backend 'old' takes no listener: add it to the manager by addListener, or use a"
                + " version of the backend that implements LockProvider.open(url, settings)");
    assertThat(opened).hasSize(1);
  }

  @Test
  void trustAndKeyManagersReachTheBackend() throws Exception {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());

    LockManager.builder("a:")
        .callbackExecutor(EXECUTOR)
        .trustManagers(trust)
        .keyManagers(keys)
        .classLoader(getClass().getClassLoader())
        .providers(List.of(new Current()))
        .open();

    assertThat(seen.get(0).trustManagers()).containsSame(trust);
    assertThat(seen.get(0).keyManagers()).containsSame(keys);
    assertThat(seen.get(0).callbackExecutor()).containsSame(EXECUTOR);
    assertThat(OpenSettings.none().trustManagers()).isEmpty();
    assertThat(OpenSettings.none().keyManagers()).isEmpty();
    assertThatThrownBy(() -> seen.get(0).requireNoTls("b"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("the backend 'b' takes no trust or key managers");
  }

  @Test
  void aBackendForUrlsAloneRefusesTrustAndKeyManagers() throws Exception {
    ManagerBuilder trusting =
        LockManager.builder("a:")
            .trustManagers(
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm()))
            .providers(List.of(new Old()));
    ManagerBuilder showing =
        LockManager.builder("a:")
            .keyManagers(KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm()))
            .providers(List.of(new Old()));

    for (ManagerBuilder builder : List.of(trusting, showing)) {
      assertThatThrownBy(builder::open)
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("the backend 'old' takes no trust or key managers");
    }
    assertThat(opened).isEmpty();
  }

  @Test
  void oneBuilderOpensSeveralManagers() {
    ManagerBuilder builder = LockManager.builder("a:").providers(List.of(new Current()));
    builder.option("x", "1").open();
    builder.option("x", "2").open();

    assertThat(opened).containsExactly("x=1 y=? z=?", "x=2 y=? z=?");
  }

  @Test
  void aWrongUrlIsReportedWhenTheManagerIsOpened() {
    ManagerBuilder builder = LockManager.builder("://");

    assertThatThrownBy(builder::open).isInstanceOf(LockConfigurationException.class);
  }

  private class Old implements LockProvider {
    @Override
    public String name() {
      return "old";
    }

    @Override
    public boolean accepts(LockUrl url) {
      return true;
    }

    @Override
    public LockManager open(LockUrl url) {
      opened.add("old");
      return new InMemoryLocks();
    }
  }

  private final class Current extends Old {
    @Override
    public LockManager open(LockUrl url, OpenSettings settings) {
      opened.add(
          "x=" + url.text("x", "?") + " y=" + url.text("y", "?") + " z=" + url.text("z", "?"));
      seen.add(settings);
      return new InMemoryLocks();
    }
  }
}
