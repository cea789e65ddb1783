package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.Rule;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
    assertThat(ByUrl.open(fixture).capabilities()).isEqualTo(fixture.capabilities());
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
    ByUrl.needed(fixture);

    for (List<String> mistake :
        List.of(List.of("retryDelya", "retryDelay"), List.of("maxTLL", "maxTtl"))) {
      Throwable thrown = catchThrowable(() -> ByUrl.open(fixture, mistake.get(0) + "=1s"));

      assertThat(thrown).isInstanceOf(LockConfigurationException.class);
      assertThat(thrown).hasMessageContainingAll(mistake.get(0), mistake.get(1));
    }
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that the provider implements open(url, settings), and passes settings on")
  void theCallbackExecutorOfTheBuilderIsUsed() {
    String url = ByUrl.needed(fixture);
    Queue<String> threads = new ConcurrentLinkedQueue<>();
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "of the user"));
    fixture.atEnd(executor::shutdownNow);
    LockManager locks =
        ByUrl.openUnlessRefused(fixture, LockManager.builder(url).callbackExecutor(executor));

    // Held at first, because a callback of a future that is complete runs on this thread.
    Lease held = fixture.take(locks, fixture.name("called-back"), fixture.ttl());
    locks
        .tryAcquireAsync(fixture.request(held.name()).waitForever())
        .whenComplete((lease, failure) -> threads.add(Thread.currentThread().getName()));
    TckFixture.regardless(held::release);

    fixture.soon().until("the callback is called", () -> !threads.isEmpty());
    assertThat(threads).containsExactly("of the user");
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that the provider reads options from the URL that it is given")
  void anOptionOfTheBuilderReplacesThatOfTheUrl() {
    String url = ByUrl.needed(fixture);

    Throwable thrown =
        catchThrowable(() -> LockManager.builder(url).option("maxTtl", "0s").open().close());

    assertThat(thrown).isInstanceOf(LockConfigurationException.class);
    assertThat(thrown).hasMessageContaining("maxTtl");
  }

  @Test
  @Rule("DISC-6")
  @IfThisFails("check that LockPrimitive.backend() returns the scheme of the provider's URLs")
  void theBackendHasTheNameOfItsUrls() {
    String scheme = LockUrl.parse(ByUrl.needed(fixture), Map.of()).scheme();

    assertThat(ByUrl.open(fixture).backend()).isEqualTo(scheme);
    assertThat(fixture.open().backend()).isEqualTo(scheme);
  }

  private LockManager openWith(@Nullable ClassLoader loader) {
    ByUrl.needed(fixture);
    Call<LockManager> call =
        Call.begin(
            () -> {
              Thread.currentThread().setContextClassLoader(loader);
              return ByUrl.open(fixture);
            });
    call.awaited(fixture);
    return call.result().orElseThrow(() -> new AssertionError("not found: " + call));
  }
}
