package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Servers, and all contestants of a scenario, connected to them. */
final class Field implements AutoCloseable {
  /** The server that can be in trouble, and before which there can be a link. */
  static final int LINKED = 2;

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(60);

  private final TestNodes nodes;
  private final Duration closeLimit;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<Subject> subjects = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /** Connects the contestants. One that cannot be connected is left out, with a note. */
  Field(List<Kind> kinds, Scenario scenario) {
    this(kinds, scenario, CLOSE_LIMIT);
  }

  /** The same with another limit for what is closed. */
  Field(List<Kind> kinds, Scenario scenario, Duration closeLimit) {
    this.closeLimit = closeLimit;
    nodes = TestNodes.start(scenario.nodes());
    try {
      Contestant floor = new RawLettuce(nodes.uris());
      opened.add(floor);
      SlowProxy link = SlowProxy.before(nodes.node(Math.min(LINKED, nodes.size() - 1)));
      opened.add(link);
      List<String> uris = new ArrayList<>(nodes.uris());
      if (scenario.isLinked()) {
        uris.set(LINKED, link.uri());
      }
      kinds.forEach(kind -> open(kind, floor, link, List.copyOf(uris)));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Closes a contestant or a link. If that takes longer than the limit, it is left behind with a
   * note.
   */
  private void close(AutoCloseable each) {
    FutureTask<Void> closing =
        new FutureTask<>(
            () -> {
              each.close();
              return null;
            });
    Thread thread = new Thread(closing, "close");
    thread.setDaemon(true);
    thread.start();
    try {
      closing.get(closeLimit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      notes.add(each.getClass().getSimpleName() + " is not closed: " + e);
    }
  }

  private void open(Kind kind, Contestant floor, SlowProxy link, List<String> uris) {
    try {
      subjects.add(new Subject(kind, kind.opener().open(uris), floor, nodes, link, uris));
    } catch (Exception e) {
      notes.add(kind.label() + " cannot be opened: " + e);
    }
  }

  List<Subject> subjects() {
    return subjects;
  }

  /** Returns the contestants that are left out, and the reasons. */
  List<String> notes() {
    return notes;
  }

  /** Removes a contestant that has failed, with a note. */
  void leaveOut(Subject subject, Exception why) {
    subjects.remove(subject);
    close(subject.contestant());
    notes.add(subject.kind().label() + " failed: " + why);
  }

  /** Closes all contestants, and ends the servers even if a contestant cannot be closed. */
  @Override
  public void close() {
    subjects.forEach(subject -> opened.add(0, subject.contestant()));
    try (nodes) {
      opened.forEach(this::close);
    }
  }
}
