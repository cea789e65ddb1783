package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The needs of tests. A test is left out where its environment does not meet one. */
final class Needs {
  private Needs() {}

  /** Requires declared capabilities. */
  static void of(TckFixture fixture, LockCapability... needed) {
    for (LockCapability capability : needed) {
      if (!fixture.declares(capability)) {
        abort("not declared: " + capability);
      }
    }
  }

  /** Requires faults that all nodes know. */
  static void of(TckFixture fixture, TckFault... needed) {
    nodes(fixture, 1);
    for (TckFault fault : needed) {
      if (!Faults.areKnown(fixture, fault)) {
        abort("this environment's nodes cannot be " + fault);
      }
    }
  }

  /** Requires timeouts that a test can choose. */
  static void nodeOptions(TckFixture fixture) {
    if (!fixture.environment().hasNodeOptions()) {
      abort("this environment's managers have no options about nodes");
    }
  }

  /** Requires that no lock is two. */
  static void oneLock(TckFixture fixture) {
    if (fixture.environment().holdsTwoLocks()) {
      abort("each lock is two, which are removed one after the other");
    }
  }

  /** Requires so many nodes. */
  static void nodes(TckFixture fixture, int atLeast) {
    int there = fixture.nodes().size();
    if (there == 0) {
      abort("this environment shows no nodes");
    }
    if (there < atLeast) {
      abort("it takes " + atLeast + " nodes, and this environment shows fewer: " + there);
    }
  }

  /** Requires a manager that shows each of its nodes. */
  static void nodesShown(TckFixture fixture, LockManager locks) {
    if (locks.nodes().size() < fixture.nodes().size()) {
      abort("this backend shows its nodes as one");
    }
  }

  /** Opens a manager with an option that a backend need not have. */
  static LockManager option(TckFixture fixture, String name, String value, String... others) {
    List<String> options = new ArrayList<>(List.of(others));
    options.add(name + "=" + value);
    try {
      return fixture.open(options.toArray(String[]::new));
    } catch (LockConfigurationException
        | IllegalArgumentException
        | UnsupportedOperationException e) {
      IgnoredFailures.add(e);
      return abort("this backend has no " + name);
    }
  }

  /** Returns the nodes' URIs, which begin with {@code redis://}. */
  static List<String> plainUris(TckFixture fixture) {
    nodes(fixture, 1);
    List<String> uris = fixture.uris();
    if (!uris.stream().allMatch(uri -> uri.startsWith("redis://"))) {
      abort("this environment's nodes are not given by redis://");
    }
    return uris;
  }

  /** Returns the wall clock, which can be moved, and is moved back when the test is over. */
  static TckClock clock(TckFixture fixture) {
    TckClock clock =
        fixture
            .environment()
            .clock()
            .orElseGet(() -> abort("this environment has no clock to move"));
    AtomicLong moved = new AtomicLong();
    fixture.atEnd(() -> clock.step(Duration.ofNanos(-moved.get())));
    return by -> {
      clock.step(by);
      moved.addAndGet(by.toNanos());
    };
  }

  /** Returns a link before each node, in the order of the nodes. They are closed at the end. */
  static List<TckLink> links(TckFixture fixture) {
    return fixture.nodes().stream().map(node -> link(fixture, node)).toList();
  }

  /** Returns the URIs of links, in their order. */
  static List<String> uris(List<TckLink> links) {
    return links.stream().map(TckLink::uri).toList();
  }

  /** Returns a link before a node, which is closed at the end. */
  static TckLink link(TckFixture fixture, TckNode node) {
    TckLink link =
        node.link().orElseGet(() -> abort("this environment has no links that can be cut"));
    fixture.atEnd(link::close);
    return link;
  }
}
