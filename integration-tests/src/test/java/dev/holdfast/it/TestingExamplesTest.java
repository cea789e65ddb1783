package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.CompiledSource;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The Java for tests, for Reactor and for metrics in the README and in docs, as it stands there.
 */
class TestingExamplesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  private static final String IMPORTS =
      """
      import static org.junit.jupiter.api.Assertions.*;
      import dev.holdfast.*;
      import dev.holdfast.junit.*;
      import dev.holdfast.memory.*;
      import dev.holdfast.micrometer.*;
      import dev.holdfast.reactor.*;
      import io.micrometer.core.instrument.*;
      import io.micrometer.core.instrument.Tags;
      import io.micrometer.core.instrument.simple.*;
      import io.micrometer.observation.*;
      import java.time.Duration;
      import java.util.*;
      import org.junit.jupiter.api.*;
      import org.junit.jupiter.api.extension.*;
      import reactor.core.publisher.*;
      """;

  @TempDir private Path folder;

  @Test
  void theTestOfTheReadmePasses() throws Exception {
    List<String> tests = blocks("README.md").stream().filter(b -> b.contains("@Test")).toList();
    assertThat(tests).hasSize(1);
    assertThat(tests.get(0).lines().count()).isLessThanOrEqualTo(11);
    assertAllPass(tests, "static void writePage(Lease lease) { lease.requireHeld(); }", 1);
  }

  @Test
  void theTestsOfThePageOnTestsPass() throws Exception {
    assertAllPass(blocks("docs/testing.md"), "", 5);
  }

  @Test
  void theExampleForReactorRuns() throws Exception {
    List<String> blocks = blocks("docs/reactor.md");
    assertThat(blocks).hasSize(1);
    String test =
        """
        @ExtendWith(HoldfastExtension.class)
        class ReactorTest {
          static Mono<String> load() { return Mono.just("the order"); }
          @Test
          void runs(LockManager locks) {
            %s
            assertEquals("the order, shipped", shipped.block(Duration.ofSeconds(10)));
            assertEquals(100, exported.count().block(Duration.ofSeconds(10)));
          }
        }
        """
            .formatted(blocks.get(0));
    assertAllPass(List.of(test), "", 1);
  }

  @Test
  void theExamplesForMetricsAndTracesRun() throws Exception {
    List<String> blocks = blocks("docs/metrics.md");
    assertThat(blocks).hasSize(3);
    String test =
        """
        @ExtendWith(HoldfastExtension.class)
        class MetricsTest {
          @Test
          void runs(LockManager locks) throws Exception {
            MeterRegistry registry = new SimpleMeterRegistry();
            ObservationRegistry observations = ObservationRegistry.create();
            %s
            byKind.bindTo(registry);
            observed.acquire("order-4711", Duration.ofSeconds(30)).close();
            String acquire = "holdfast.acquire";
            assertEquals(1, registry.get(acquire).tags("manager", "orders", "outcome", "granted").timer().count());
            assertEquals(1, registry.get(acquire).tags("lock", "order", "outcome", "granted").timer().count());
            metrics.close();
            byKind.close();
            assertTrue(registry.getMeters().isEmpty());
          }
        }
        """
            .formatted(String.join("\n", blocks));
    assertAllPass(List.of(test), "", 1);
  }

  /** Compiles the classes of tests and runs them with JUnit. */
  private void assertAllPass(List<String> classes, String helper, int tests) throws Exception {
    String nested =
        String.join("\n", classes).replaceAll("(?m)^class (\\w+)", "public static class $1");
    String source = IMPORTS + "public class Examples {\n" + helper + "\n" + nested + "}\n";
    CompiledSource.compile(folder, "Examples", source);

    TestExecutionSummary summary = run();
    assertThat(summary.getFailures().stream().map(failure -> failure.getException())).isEmpty();
    assertThat(summary.getTestsSucceededCount()).isEqualTo(tests);
  }

  private TestExecutionSummary run() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      LauncherDiscoveryRequest request =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(
                  Stream.of(loader.loadClass("Examples").getClasses())
                      .map(DiscoverySelectors::selectClass)
                      .toList())
              .build();
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      LauncherFactory.create().execute(request, listener);
      return listener.getSummary();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static List<String> blocks(String page) throws Exception {
    String text = Files.readString(ROOT.resolve(page));
    return JAVA.matcher(text).results().map(found -> found.group(1)).toList();
  }
}
