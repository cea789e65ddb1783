package dev.holdfast.tck;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The rules that a backend is said to break by design. Each must be seen to break. Thread-safe. */
final class ExpectedFailures {
  private final Map<String, String> reasons;
  private final Set<String> tried = new TreeSet<>();
  private final Set<String> broken = new TreeSet<>();

  /**
   * None has been tried yet.
   *
   * @param reasons by rule
   */
  ExpectedFailures(Map<String, String> reasons) {
    reasons.keySet().forEach(Spec::rule);
    this.reasons = reasons;
  }

  /** Notes that a test of these rules begins. */
  synchronized void begin(Rule named) {
    tried.addAll(Arrays.asList(named.value()));
  }

  /**
   * Returns why a test should fail, or empty if it should not, or not in this way: only an
   * assertion counts.
   */
  synchronized Optional<String> reason(Rule named, Throwable thrown) {
    Optional<String> reason =
        thrown instanceof AssertionError
            ? Arrays.stream(named.value()).map(reasons::get).filter(Objects::nonNull).findFirst()
            : Optional.empty();
    if (reason.isPresent()) {
      broken.addAll(Arrays.asList(named.value()));
    }
    return reason;
  }

  /** Returns whether a rule was seen to break that was said to. */
  synchronized boolean isAnySeen() {
    return !broken.isEmpty();
  }

  /** Returns the rules that should have been broken and were not, with advice. */
  synchronized Optional<String> unseen() {
    Set<String> unseen = new TreeSet<>(reasons.keySet());
    unseen.retainAll(tried);
    unseen.removeAll(broken);
    return unseen.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "these rules are listed as broken by design, and no test of them failed: "
                + unseen
                + "; take them off the list, and declare the capability that they belong to");
  }
}
