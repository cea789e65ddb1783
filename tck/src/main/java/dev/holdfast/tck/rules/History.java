package dev.holdfast.tck.rules;

import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Calls in a random order, by several managers, beside a model of what each must do. */
final class History {
  private static final Duration TIME = Duration.ofSeconds(2);
  private static final int MAX_STEPS = 600;

  /** The number of steps until a fault begins, or ends. */
  private static final int STEPS_OF_A_FAULT = 12;

  /** The number of steps that a failure shows. */
  private static final int SHOWN = 40;

  private final Seed seed = new Seed();
  private final Deque<String> trace = new ArrayDeque<>();
  private final TckFixture fixture;
  private final HistorySteps steps;

  /**
   * Creates a history.
   *
   * @param nodes those that are well throughout
   * @param options of the managers
   */
  History(TckFixture fixture, List<TckNode> nodes, String... options) {
    this.fixture = fixture;
    steps = new HistorySteps(new HistoryLocks(fixture, seed, nodes, this::note, options));
  }

  /** Makes the calls, and throws for the first that is wrong. */
  void run() {
    shown(
        () -> {
          for (long begun = System.nanoTime(), i = 0; goesOn(begun, i); i++) {
            steps.next();
          }
          steps.finish();
        });
  }

  /** Makes calls while some nodes have one fault after the other. */
  void runWhileFailing(List<TckNode> failing, List<TckFault> faults) {
    String name = fixture.name("a failing node");
    shown(
        () -> {
          for (long begun = System.nanoTime(), i = 0; goesOn(begun, i); i++) {
            TckFault fault = seed.oneOf(faults);
            note("a minority is " + fault);
            Faults.during(fixture, fault, failing, name, this::steps);
            note("and it is so no more");
            steps();
          }
          steps.finish();
        });
  }

  private void steps() throws Exception {
    for (int i = seed.below(STEPS_OF_A_FAULT); i >= 0; i--) {
      steps.next();
    }
  }

  private static boolean goesOn(long begun, long steps) {
    return steps < MAX_STEPS && Elapsed.since(begun).compareTo(TIME) < 0;
  }

  private void note(String step) {
    trace.add(step.replaceAll("x{9,}", "x…x").replaceAll("l{9,}", "l…l"));
    if (trace.size() > SHOWN) {
      trace.remove();
    }
  }

  /** Shows the last steps with a failure. */
  private void shown(Eventually.Assertions act) {
    try {
      act.run();
    } catch (AnotherRule.Broken e) {
      throw e;
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "after these calls (" + seed + "):\n  " + String.join("\n  ", trace) + "\n" + e, e);
    }
  }
}
