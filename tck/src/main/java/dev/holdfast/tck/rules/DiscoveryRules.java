package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A backend is found by its URL. What else there must be said of class paths is said by the tests
 * of the API itself, which finds the backends.
 */
public abstract class DiscoveryRules {
  final TckFixture fixture;

  public DiscoveryRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check META-INF/services, and that the URL is one that the provider accepts")
  void theBackendIsFound() {
    assertThat(fixture.openUrl().capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check whether the provider loads classes or resources by the thread's class loader")
  void theBackendIsFoundFromAThreadWithoutAClassLoader() {
    assertThat(openWith(null).capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check whether the provider loads classes or resources by the thread's class loader")
  void theBackendIsFoundFromAThreadOfAnotherClassLoader() {
    ClassLoader other = ClassLoader.getPlatformClassLoader();

    assertThat(openWith(other).capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-4")
  @IfThisFails("check that the provider calls LockUrl.requireKnownOptions with all that it knows")
  void anUnknownOptionIsAnErrorThatNamesTheNearest() {
    fixture.needsUrl();

    for (List<String> mistake :
        List.of(List.of("retryDelya", "retryDelay"), List.of("maxTLL", "maxTtl"))) {
      Throwable thrown = catchThrowable(() -> fixture.openUrl(mistake.get(0) + "=1s"));

      assertThat(thrown).isInstanceOf(LockConfigurationException.class);
      assertThat(thrown).hasMessageContainingAll(mistake.get(0), mistake.get(1));
    }
  }

  private LockManager openWith(@Nullable ClassLoader loader) {
    fixture.needsUrl();
    Call<LockManager> call =
        Call.begin(
            () -> {
              Thread.currentThread().setContextClassLoader(loader);
              return fixture.openUrl();
            });
    call.awaited(fixture);
    return call.result().orElseThrow(() -> new AssertionError("not found: " + call));
  }
}
