package dev.holdfast.tck.rules;

import org.opentest4j.TestAbortedException;

/**
 * Leaves a test out because the backend seems to break another rule than the test's own. Some other
 * test has to fail then: if none does, the kit fails as a whole.
 */
public final class AnotherRule {
  private AnotherRule() {}

  /** The end of a test that was left out. */
  public static final class Broken extends TestAbortedException {
    private static final long serialVersionUID = 1L;

    private Broken(String fact) {
      super(fact + ", which is another rule's");
    }
  }

  /**
   * Leaves the test out.
   *
   * @param fact the behaviour that breaks another rule
   * @return never
   */
  @SuppressWarnings({"DoNotCallSuggester", "TypeParameterUnusedInFormals"}) // as with Assumptions
  static <T> T isBroken(String fact) {
    throw new Broken(fact);
  }
}
