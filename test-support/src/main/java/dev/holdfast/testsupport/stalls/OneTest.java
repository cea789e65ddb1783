package dev.holdfast.testsupport.stalls;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs one test in a new process like this one, where nothing of the first run is left: neither
 * what its class holds for all its tests, nor what it has done to its servers.
 */
final class OneTest {
  /** The limit of one run: three are over before a test's usual limit, 300 s. */
  private static final Duration LIMIT = Duration.ofSeconds(45);

  private static final String RUNNING = "holdfast.stalls.again";

  /** The seed that the message of a failure names. */
  private static final Pattern SEED = Pattern.compile("-Dholdfast\\.seed=-?\\d+");

  private OneTest() {}

  /** Whether this process was started for one test. */
  static boolean isRunning() {
    return Boolean.getBoolean(RUNNING);
  }

  /**
   * Runs one test, with the seed of its failure if this names one. An interrupt ends its process,
   * and so does its limit.
   */
  static boolean passes(String uniqueId, Throwable failure)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> !argument.startsWith("-javaagent:")) // counts coverage into a file
        .forEach(command::add);
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("holdfast.") || name.equals("basedir"))
        .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
    Matcher seed = SEED.matcher(String.valueOf(failure.getMessage()));
    if (seed.find()) {
      command.add(seed.group());
    }
    command.add("-D" + RUNNING + "=true");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), OneTest.class.getName()));
    command.add(uniqueId);
    // through a file, because a process that a build tool started talks with it over standard
    // output
    Path output = Files.createTempFile("one-test", ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      return process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) && process.exitValue() == 0;
    } finally {
      process.destroyForcibly();
      System.err.println(new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
      Files.delete(output);
    }
  }

  /**
   * Exits with 0 if the test passed.
   *
   * @param arguments the test's unique id
   */
  public static void main(String[] arguments) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectUniqueId(arguments[0]))
            .configurationParameter(
                "junit.jupiter.execution.timeout.default", LIMIT.toSeconds() + " s")
            .configurationParameter(
                "junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    TestExecutionSummary summary = listener.getSummary();
    summary.printFailuresTo(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    boolean passed = summary.getTestsSucceededCount() > 0 && summary.getTotalFailureCount() == 0;
    System.exit(passed ? 0 : 1);
  }
}
