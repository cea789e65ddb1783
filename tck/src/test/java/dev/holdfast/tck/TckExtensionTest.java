package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The beginning of a run of the kit. */
class TckExtensionTest {
  private static final AtomicInteger CLOSED = new AtomicInteger();

  /** Of a backend that cannot be opened. Found by the launcher alone. */
  static class Unopened extends LockManagerTck {
    private final String reason = "there is no such backend";

    @Override
    protected TckEnvironment environment() {
      return new Failing(Objects.requireNonNull(reason));
    }
  }

  private record Failing(String reason) implements TckEnvironment {
    @Override
    public LockManager open(Map<String, String> options) {
      throw new LockConfigurationException(reason);
    }

    @Override
    public void close() {
      CLOSED.incrementAndGet();
    }
  }

  @Test
  void anEnvironmentThatOpensNothingIsClosedAndTheRunSaysWhy() {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Unopened.class)).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();

    InnerRun.of(request, listener);

    assertThat(CLOSED).hasValue(1);
    assertThat(listener.getSummary().getFailures())
        .singleElement()
        .satisfies(
            failure -> assertThat(failure.getException()).hasMessage("there is no such backend"));
  }
}
