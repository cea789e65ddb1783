package dev.holdfast.tck.broken;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.holdfast.tck.InnerRun;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckEnvironment;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/** The whole kit, run once against one environment. */
final class KitRun {
  /** The environment of a run: JUnit's threads inherit it from the run's own. */
  @SuppressWarnings("ThreadLocalUsage") // one run is one thread and those that it starts
  private static final ThreadLocal<Supplier<? extends TckEnvironment>> ENVIRONMENT =
      new InheritableThreadLocal<>();

  private static final String PARALLEL = "junit.jupiter.execution.parallel.";

  /** {@code -Dholdfast.tests=REGEX} runs those tests alone in whose names it is found. */
  private static final Pattern WANTED = Pattern.compile(System.getProperty("holdfast.tests", ""));

  private final List<String> passed = new CopyOnWriteArrayList<>();
  private final List<Failure> failures = new CopyOnWriteArrayList<>();
  private final List<String> skipped = new CopyOnWriteArrayList<>();

  /** Found by the launcher alone. */
  static class Kit extends LockManagerTck {
    @Override
    protected TckEnvironment environment() {
      return ENVIRONMENT.get().get();
    }
  }

  /**
   * One test that failed.
   *
   * @param rules those that it is about, or empty if something else than a test failed
   */
  record Failure(Set<String> rules, String test, Throwable thrown) {
    @Override
    public String toString() {
      String message = String.valueOf(thrown.getMessage());
      return rules + " " + test + ": " + message.lines().limit(80).toList();
    }
  }

  private KitRun(
      Supplier<? extends TckEnvironment> environment, Predicate<String> wanted, int atATime) {
    ENVIRONMENT.set(environment);
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .configurationParameter(PARALLEL + "enabled", Boolean.toString(atATime > 1))
            .configurationParameter(PARALLEL + "config.strategy", "fixed")
            .configurationParameter(
                PARALLEL + "config.fixed.parallelism", Integer.toString(atATime))
            .selectors(selectClass(Kit.class))
            .filters(
                TagFilter.excludeTags("soak"), (PostDiscoveryFilter) test -> isWanted(test, wanted))
            .build();
    InnerRun.of(request, new Results());
    ENVIRONMENT.remove();
  }

  /** Runs the whole kit, so many tests at a time, with an environment each. */
  static KitRun of(Supplier<? extends TckEnvironment> environment, int atATime) {
    return of(environment, rule -> true, atATime);
  }

  /** Runs the tests of some rules. */
  static KitRun of(Supplier<? extends TckEnvironment> environment, Predicate<String> rules) {
    return of(environment, rules, 1);
  }

  /** The run has a thread group of its own, which separates its threads from those of others. */
  private static KitRun of(
      Supplier<? extends TckEnvironment> environment, Predicate<String> rules, int atATime) {
    FutureTask<KitRun> run = new FutureTask<>(() -> new KitRun(environment, rules, atATime));
    Thread thread = new Thread(new ThreadGroup("kit"), run, "kit");
    thread.start();
    try {
      return run.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  /** The tests that passed. */
  List<String> passed() {
    return passed;
  }

  List<Failure> failures() {
    return failures;
  }

  /** Tests that were left out, with the reason. */
  List<String> skipped() {
    return skipped;
  }

  Set<String> reasonsToSkip() {
    return skipped.stream()
        .map(test -> test.substring(test.indexOf(": ") + 2))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  Set<String> brokenRules() {
    Set<String> rules = new TreeSet<>();
    failures.forEach(failure -> rules.addAll(failure.rules()));
    return rules;
  }

  /** All tests of the kit that do not take minutes. */
  static Set<String> tests() {
    return Arrays.stream(LockManagerTck.class.getDeclaredClasses())
        .flatMap(group -> Arrays.stream(group.getSuperclass().getDeclaredMethods()))
        .filter(test -> test.isAnnotationPresent(Test.class))
        .filter(
            test -> Arrays.stream(test.getAnnotationsByType(Tag.class)).noneMatch(KitRun::isSoak))
        .map(KitRun::nameOf)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static FilterResult isWanted(TestDescriptor test, Predicate<String> rules) {
    return FilterResult.includedIf(
        test.getSource()
            .filter(MethodSource.class::isInstance)
            .map(source -> ((MethodSource) source).getJavaMethod())
            .map(
                method ->
                    WANTED.matcher(nameOf(method)).find()
                        && rulesOf(method).stream().anyMatch(rules))
            .orElse(true));
  }

  private static boolean isSoak(Tag tag) {
    return tag.value().equals("soak");
  }

  private static Set<String> rulesOf(Method test) {
    return Set.of(Objects.requireNonNull(test.getAnnotation(Rule.class)).value());
  }

  /** Returns the name of a test with its group. */
  static String nameOf(Method test) {
    return test.getDeclaringClass().getSimpleName() + "." + test.getName();
  }

  private final class Results implements TestExecutionListener {
    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      skipped.add(name(test) + ": " + reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      switch (result.getStatus()) {
        case SUCCESSFUL -> {
          if (test.isTest()) {
            passed.add(name(test));
          }
        }
        case ABORTED ->
            skipped.add(
                name(test) + ": " + result.getThrowable().map(Throwable::getMessage).orElse(""));
        case FAILED ->
            failures.add(new Failure(rules(test), name(test), result.getThrowable().orElseThrow()));
      }
    }

    private String name(TestIdentifier test) {
      return test.getSource()
          .filter(MethodSource.class::isInstance)
          .map(source -> nameOf(((MethodSource) source).getJavaMethod()))
          .orElse(test.getDisplayName());
    }

    private Set<String> rules(TestIdentifier test) {
      return test.getSource()
          .filter(MethodSource.class::isInstance)
          .map(source -> rulesOf(((MethodSource) source).getJavaMethod()))
          .orElse(Set.of());
    }
  }
}
