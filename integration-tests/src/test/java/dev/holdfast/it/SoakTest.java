package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.TagFilter.excludeTags;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The longer proof: a kit that fails a right driver now and then proves nothing. */
@ParameterizedClass(name = "{0}")
@MethodSource("kits")
class SoakTest {
  private static final String MEMORY = "dev.holdfast.tck.MemoryTckTest";

  private final Class<?> kit;

  SoakTest(Class<?> kit) {
    this.kit = kit;
  }

  static List<Class<?>> kits() throws ClassNotFoundException {
    List<Class<?>> kits = new ArrayList<>(List.of(Class.forName(MEMORY)));
    Backend.all().forEach(backend -> kits.add(backend.kit()));
    return kits;
  }

  @RepeatedTest(20)
  @Tag("soak")
  @ExtendWith(BusyCores.class)
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @DisplayName("the whole kit passes while all cores are busy")
  void theWholeKitPassesWhileAllCoresAreBusy() {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectClass(kit))
            .filters(excludeTags("soak"))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();

    LauncherFactory.create().execute(request, listener);

    TestExecutionSummary summary = listener.getSummary();
    assertThat(summary.getFailures())
        .extracting(failure -> failure.getException().getMessage())
        .isEmpty();
    assertThat(summary.getTestsSucceededCount()).isGreaterThan(100);
  }
}
