package dev.holdfast.cli.tck;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.cli.command.UsageException;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the kit on JUnit. Extensions of JUnit in other jars are left out. */
final class TckRunner {
  /**
   * Tests at the same time, where environments share nothing: most tests wait most of their time.
   * With more than eight, two cores are busy.
   */
  private static final int PARALLELISM = 8;

  private static final String PARALLEL = "junit.jupiter.execution.parallel.";

  private TckRunner() {}

  /**
   * Runs tests, and closes all environments.
   *
   * @param more makes environments like the first one
   * @param rules the rules to test, empty for all
   * @return the tests that were begun or left out
   * @throws UsageException if there is no test of these rules
   */
  static List<TckTest> run(
      TckEnvironment environment,
      Supplier<TckEnvironment> more,
      Set<String> rules,
      TckProgress progress) {
    TckKit.prepare(environment, more);
    Launcher launcher =
        LauncherFactory.create(
            LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableLauncherDiscoveryListenerAutoRegistration(false)
                .enablePostDiscoveryFilterAutoRegistration(false)
                .build());
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .enableImplicitConfigurationParameters(false)
            .configurationParameter(PARALLEL + "enabled", "true")
            .configurationParameter(PARALLEL + "config.strategy", "fixed")
            .configurationParameter(
                PARALLEL + "config.fixed.parallelism", Integer.toString(PARALLELISM))
            .selectors(selectClass(TckKit.class))
            .filters(
                EngineFilter.includeEngines("junit-jupiter"),
                (PostDiscoveryFilter) test -> FilterResult.includedIf(isWanted(test, rules)))
            .build();
    TestPlan plan = launcher.discover(request);
    if (!plan.containsTests()) {
      environment.close();
      throw new UsageException("the kit has no test of " + String.join(", ", rules));
    }
    TckListener listener = new TckListener(progress);
    launcher.execute(plan, listener);
    return listener.tests();
  }

  private static boolean isWanted(TestDescriptor test, Set<String> rules) {
    return rules.isEmpty()
        || test.getSource()
            .filter(MethodSource.class::isInstance)
            .map(source -> TckListener.rules((MethodSource) source))
            .map(proved -> !Collections.disjoint(proved, rules))
            .orElse(false);
  }
}
