package com.example;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The results of a class of tests that was run by JUnit.
 *
 * @param passed the names of tests that passed
 * @param failures the names of tests and containers that failed, with their stack traces
 */
record Outcome(List<String> passed, Map<String, String> failures) {
  static Outcome of(Class<?> tests) {
    return of(tests, Map.of());
  }

  static Outcome of(Class<?> tests, Map<String, String> configuration) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(tests))
            .configurationParameters(configuration)
            .build();
    ConcurrentLinkedQueue<String> passed = new ConcurrentLinkedQueue<>();
    Map<String, String> failures = new ConcurrentHashMap<>();
    TestExecutionListener listener =
        new TestExecutionListener() {
          @Override
          public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            String name = test.getDisplayName().replace("()", "");
            result.getThrowable().ifPresent(failure -> failures.put(name, trace(failure)));
            if (result.getThrowable().isEmpty() && test.isTest()) {
              passed.add(name.replaceAll("\\(.*", ""));
            }
          }
        };
    LauncherFactory.create().execute(request, listener);
    return new Outcome(List.copyOf(passed), Map.copyOf(failures));
  }

  private static String trace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
