package dev.holdfast.cli.tck;

import dev.holdfast.tck.Rule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Keeps the reports of JUnit on a run, from several threads. */
final class TckListener implements TestExecutionListener {
  /** The kit's own names of tests begin with their rules, and its failures with the rule's text. */
  private static final String RULES = "^[A-Z]+-\\d+(, [A-Z]+-\\d+)*: ";

  private static final String RULE_TEXT = "^\\[\\w+] [^\\n]*\\n";

  private final TckProgress progress;
  private final List<TckTest> tests = new ArrayList<>();
  private final Map<String, Long> begun = new HashMap<>();
  private @Nullable TestPlan plan;

  TckListener(TckProgress progress) {
    this.progress = progress;
  }

  synchronized List<TckTest> tests() {
    return List.copyOf(tests);
  }

  @Override
  public void testPlanExecutionStarted(TestPlan started) {
    plan = started;
    progress.expect(Math.toIntExact(started.countTestIdentifiers(TestIdentifier::isTest)));
  }

  @Override
  public void dynamicTestRegistered(TestIdentifier test) {
    if (test.isTest()) {
      progress.expect(1);
    }
  }

  @Override
  public synchronized void executionStarted(TestIdentifier test) {
    begun.put(test.getUniqueId(), System.nanoTime());
    if (test.isTest()) {
      progress.begin(group(test), name(test));
    }
  }

  @Override
  public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
    String why = result.getThrowable().map(TckListener::message).orElse("");
    switch (result.getStatus()) {
      case FAILED -> add(test, TckOutcome.FAILED, why, trace(result));
      case ABORTED -> add(test, TckOutcome.NOT_SHOWN, why, "");
      case SUCCESSFUL -> {
        if (test.isTest()) {
          add(test, TckOutcome.PASSED, "", "");
        }
      }
    }
  }

  private void add(TestIdentifier test, TckOutcome outcome, String why, String trace) {
    long nanos = System.nanoTime() - begun.getOrDefault(test.getUniqueId(), System.nanoTime());
    TckTest ended =
        new TckTest(
            rules(test), group(test), name(test), outcome, why, trace, Duration.ofNanos(nanos));
    tests.add(ended);
    progress.end(ended, test.isTest());
  }

  private List<String> rules(TestIdentifier test) {
    return lineage(test)
        .flatMap(one -> one.getSource().stream())
        .filter(MethodSource.class::isInstance)
        .findFirst()
        .map(source -> rules((MethodSource) source))
        .orElse(List.of());
  }

  /** Returns the rules that a test method proves. */
  static List<String> rules(MethodSource test) {
    return Optional.ofNullable(test.getJavaMethod().getAnnotation(Rule.class))
        .map(rule -> List.of(rule.value()))
        .orElse(List.of());
  }

  private String group(TestIdentifier test) {
    return lineage(test)
        .skip(1)
        .filter(TckListener::isClass)
        .findFirst()
        .map(TestIdentifier::getDisplayName)
        .orElse("");
  }

  /** Repetitions, and tests that a test makes, are named after what they belong to as well. */
  private String name(TestIdentifier test) {
    String name =
        lineage(test)
            .takeWhile(one -> !isClass(one))
            .map(one -> one.getDisplayName().replaceFirst(RULES, ""))
            .reduce((inner, outer) -> outer + ": " + inner)
            .orElse("");
    return name.isEmpty() ? test.getDisplayName() : name;
  }

  private static boolean isClass(TestIdentifier one) {
    return one.getSource().filter(ClassSource.class::isInstance).isPresent();
  }

  /** Returns a test and the containers that it belongs to, the innermost first. */
  private Stream<TestIdentifier> lineage(TestIdentifier test) {
    return Stream.iterate(
            Optional.of(test),
            Optional::isPresent,
            one -> Optional.ofNullable(plan).flatMap(p -> p.getParent(one.get())))
        .flatMap(Optional::stream);
  }

  private static String message(Throwable thrown) {
    String message = thrown.getMessage();
    return message == null ? thrown.toString() : message.replaceFirst(RULE_TEXT, "");
  }

  private static String trace(TestExecutionResult result) {
    StringWriter trace = new StringWriter();
    result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(new PrintWriter(trace, true)));
    return trace.toString();
  }
}
