package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.tck.Rule;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** All kinds of tests that a kit may have. Not a test by its name, so that no build runs it. */
@DisplayName("the kit")
class TckSample {
  @AfterAll
  static void close() {
    fail("it could not be closed");
  }

  @Nested
  @DisplayName("some group")
  class Group {
    @Test
    @Rule("REL-1")
    @DisplayName("REL-1: it is kept")
    void kept() {}

    @Test
    @Rule("REL-2")
    @DisplayName("REL-2: it is broken")
    void broken() {
      fail("[TckSample] REL-2 MUST. It is kept.\nIf this fails, check it\nexpected: true");
    }

    @Test
    @Rule("REL-3")
    @DisplayName("REL-3: it is left out")
    void leftOut() {
      abort("no clock");
    }

    @RepeatedTest(2)
    @Rule("REL-4")
    @DisplayName("REL-4: twice")
    void twice() {}

    @TestFactory
    @Rule("REL-5")
    @DisplayName("REL-5: made")
    Stream<DynamicTest> made() {
      return Stream.of(DynamicTest.dynamicTest("one", () -> {}));
    }

    @Test
    @ExtendWith(AfterTheEnd.class)
    @Rule("REL-6")
    void notRun() {}
  }

  /** A condition like the command's own once a signal has ended the run. */
  static final class AfterTheEnd implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return ConditionEvaluationResult.disabled("the run was ended by a signal");
    }
  }
}
