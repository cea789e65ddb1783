package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Settings of an author's own build do not change the kit. */
class SettingsOfAuthorsTest {
  @Test
  void theKitPassesThoughTestsAreToRunInParallelAndToShareTheirInstance() {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                List.of(LockManagerTck.Release.class, LockManagerTck.Inspection.class).stream()
                    .map(group -> selectNestedClass(List.of(MemoryTckTest.class), group))
                    .toList())
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
            .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
            .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
            .configurationParameter(
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4")
            .configurationParameter("junit.jupiter.testinstance.lifecycle.default", "per_class")
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();

    InnerRun.of(request, listener);

    TestExecutionSummary summary = listener.getSummary();
    assertThat(summary.getFailures())
        .extracting(failure -> failure.getTestIdentifier().getDisplayName())
        .isEmpty();
    assertThat(summary.getTestsSucceededCount()).isGreaterThan(20);
  }
}
