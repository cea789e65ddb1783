package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.tck.Spec;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * One mistake, in what is right otherwise.
 *
 * @param mistake the mistake, as its author would confess it
 * @param rules those that it breaks each time. It breaks all of them, and no others except {@code
 *     underLoad}
 * @param underLoad those that it breaks in addition if the machine is busy
 * @param environment opens managers that have it
 * @param isVariation whether others break the same rules, so that it is tried less often
 */
record Flaw(
    String mistake,
    Set<String> rules,
    Set<String> underLoad,
    Supplier<TckEnvironment> environment,
    boolean isVariation) {
  /** A random history may meet any mistake. */
  private static final String ANY_HISTORY = "ACQ-24";

  /** All there are. */
  static List<Flaw> all() {
    return Stream.of(
            NodeFlaws.all(),
            AcquireFlaws.all(),
            ExtendFlaws.all(),
            ReleaseFlaws.all(),
            WaitingFlaws.all(),
            TimeoutFlaws.all(),
            LeaseFlaws.all(),
            AskingFlaws.all(),
            ExecutingFlaws.all(),
            HoldFlaws.all(),
            EndedFlaws.all(),
            ManagerFlaws.all(),
            CallbackFlaws.all(),
            ValueFlaws.all(),
            OpeningFlaws.all(),
            LateFlaws.all(),
            StepFlaws.all(),
            AliasFlaws.all(),
            StaleFlaws.all(),
            OverlookedFlaws.all(),
            UnseenFlaws.all(),
            MissedFlaws.all(),
            EdgeFlaws.all(),
            PassedFlaws.all(),
            PathFlaws.all(),
            LimitFlaws.all(),
            RepetitionFlaws.all(),
            ForcedFlaws.all(),
            TimelinessFlaws.all(),
            ReportFlaws.all(),
            TransferFlaws.all(),
            ManyFlaws.all(),
            ListenerFlaws.all(),
            CombinationFlaws.all(),
            CrudeFlaws.all(),
            CrudeNodeFlaws.all(),
            PlainFlaws.all())
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public String toString() {
    return mistake + " " + new TreeSet<>(rules);
  }

  Flaw asVariation() {
    return new Flaw(mistake, rules, underLoad, environment, true);
  }

  Flaw breaksUnderLoad(String... others) {
    return new Flaw(mistake, rules, Set.of(others), environment, isVariation);
  }

  /** Breaks its rules each time, and further rules that need no list. */
  Flaw breaksMore() {
    return new Flaw(mistake, rules, Spec.rules().keySet(), environment, true);
  }

  /** Returns whether all of these rules are broken by it, each time or if the machine is busy. */
  boolean explains(Set<String> broken) {
    return broken.stream()
        .allMatch(
            rule -> rules.contains(rule) || underLoad.contains(rule) || rule.equals(ANY_HISTORY));
  }

  static Flaw of(String mistake, Set<String> rules, Supplier<TckEnvironment> environment) {
    return new Flaw(mistake, rules, Set.of(), environment, false);
  }

  static Flaw of(String mistake, Set<String> rules, Parts parts) {
    return of(mistake, rules, () -> new FakeEnvironment(parts));
  }

  static Flaw inNode(String mistake, Set<String> rules, Supplier<FakeKeys> keys) {
    return of(mistake, rules, Parts.RIGHT.withKeys(keys));
  }

  static Flaw inRedlock(String mistake, Set<String> rules, Parts.Primitives primitives) {
    return of(mistake, rules, Parts.RIGHT.withPrimitives(primitives));
  }

  static Flaw inMember(String mistake, Set<String> rules, Parts.Connections connections) {
    return of(mistake, rules, Parts.RIGHT.withConnections(connections));
  }

  static Flaw inMembers(String mistake, Set<String> rules, Parts.Rounds rounds) {
    return of(mistake, rules, Parts.RIGHT.withRounds(rounds));
  }

  static Flaw inSettings(String mistake, Set<String> rules, Consumer<LockManagerBuilder> settings) {
    return of(mistake, rules, Parts.RIGHT.withSettings(settings));
  }

  static Flaw inManager(String mistake, Set<String> rules, UnaryOperator<LockManager> manager) {
    return of(mistake, rules, Parts.RIGHT.withManagers(right -> manager.apply(right.get())));
  }

  static Flaw inListener(String mistake, Set<String> rules, UnaryOperator<LockListener> listener) {
    return inManager(
        mistake,
        rules,
        right ->
            new PassingManager(right) {
              @Override
              public LockListener.Registration addListener(LockListener added) {
                return right.addListener(listener.apply(added));
              }
            });
  }

  static Flaw inLease(String mistake, Set<String> rules, UnaryOperator<Lease> lease) {
    return inManager(mistake, rules, right -> PassingManager.withLeases(right, lease));
  }
}
