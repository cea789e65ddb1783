package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The requests, connections and subscriptions that all nodes count together. */
final class Counts {
  /** The time without requests after which no request is in flight. */
  private static final Duration QUIET = Duration.ofMillis(40);

  private Counts() {}

  /** Leaves the test out where requests are not counted. */
  static void needsRequests(TckFixture fixture) {
    Needs.nodes(fixture, 1);
    if (fixture.nodes().stream().anyMatch(node -> node.requests().isEmpty())) {
      abort("this environment's nodes do not count requests");
    }
  }

  static long requests(TckFixture fixture) {
    return fixture.nodes().stream().mapToLong(node -> node.requests().orElse(0)).sum();
  }

  /** Returns the requests once no more come: a call may return before a minority has answered. */
  static long settledRequests(TckFixture fixture) {
    AtomicLong last = new AtomicLong(-1);
    fixture
        .soon()
        .until(
            "no more requests come",
            () -> {
              LockSupport.parkNanos(QUIET.toNanos());
              long now = requests(fixture);
              return now == last.getAndSet(now);
            });
    return last.get();
  }

  /** Checks calls that send nothing, again if a client sent late to nodes beyond a quorum. */
  static void assertNoneBy(TckFixture fixture, Eventually.Assertions calls) {
    Retries.anyOf(
        () -> {
          long before = settledRequests(fixture);
          calls.run();
          assertThat(requests(fixture) - before).as("requests to nodes").isZero();
        });
  }

  /** Leaves the test out where connections are not counted. */
  static void needsConnections(TckFixture fixture) {
    Needs.nodes(fixture, 1);
    if (fixture.nodes().stream().anyMatch(node -> node.connections().isEmpty())) {
      abort("this environment's nodes do not count connections");
    }
  }

  static int connections(TckFixture fixture) {
    return fixture.nodes().stream().mapToInt(node -> node.connections().orElse(0)).sum();
  }

  static boolean countsSubscriptions(TckFixture fixture) {
    return !fixture.nodes().isEmpty()
        && fixture.nodes().stream().allMatch(node -> node.subscriptions().isPresent());
  }

  static int subscriptions(TckFixture fixture) {
    return fixture.nodes().stream().mapToInt(node -> node.subscriptions().orElse(0)).sum();
  }

  /** Waits until there are at most as many connections as before, and requires that it stays so. */
  static void awaitNoMoreConnections(TckFixture fixture, int before) {
    fixture
        .soon()
        .until(
            "no connection was left", () -> Attempts.stays(() -> connections(fixture) <= before));
  }
}
