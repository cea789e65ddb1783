package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.ManagerBuilder;

/** Managers as users open them, by the URL of the environment. */
final class ByUrl {
  private ByUrl() {}

  /** Returns the URL by which processes find the same locks, or leaves the test out. */
  static String neededInProcesses(TckFixture fixture) {
    String url = needed(fixture);
    return fixture.environment().isInProcess() ? abort("other processes have other locks") : url;
  }

  /** Returns the URL by which managers see the same locks, or leaves the test out. */
  static String needed(TckFixture fixture) {
    return fixture
        .environment()
        .url()
        .orElseGet(() -> abort("this environment's managers have no URL"));
  }

  /** Opens a manager, which is closed at the end. */
  static LockManager open(TckFixture fixture, String... options) {
    String url = needed(fixture);
    return fixture.closedAtEnd(() -> LockManager.open(url, fixture.options(options)));
  }

  /** Returns a builder of such a manager. */
  static ManagerBuilder builder(TckFixture fixture) {
    return LockManager.builder(needed(fixture)).options(fixture.options());
  }

  /** Opens a manager by a builder. Leaves the test out if the backend refuses, as it may. */
  static LockManager openUnlessRefused(TckFixture fixture, ManagerBuilder builder) {
    try {
      return fixture.closedAtEnd(builder::open);
    } catch (LockConfigurationException e) {
      IgnoredFailures.add(e);
      return abort("this backend takes no such setting of a builder, and says so");
    }
  }
}
