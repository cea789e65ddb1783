package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNodes;
import java.util.ArrayList;
import java.util.List;

/** Servers, and all contestants of a scenario, connected to them. */
final class Field implements AutoCloseable {
  /** The server that can be in trouble, and before which there can be a link. */
  static final int LINKED = 2;

  private final TestNodes nodes;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final List<Subject> subjects = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /** Those that cannot be connected are left out, with a note. */
  Field(List<Kind> kinds, Scenario scenario) {
    nodes = TestNodes.start(scenario.nodes());
    try {
      Contestant floor = new RawLettuce(nodes.uris());
      opened.add(floor);
      SlowLink link = SlowLink.before(nodes.node(Math.min(LINKED, nodes.size() - 1)));
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

  private void open(Kind kind, Contestant floor, SlowLink link, List<String> uris) {
    try {
      subjects.add(new Subject(kind, kind.opener().open(uris), floor, nodes, link, uris));
    } catch (Exception e) {
      notes.add(kind.label() + " cannot be opened: " + e);
    }
  }

  List<Subject> subjects() {
    return subjects;
  }

  /** Who is left out, and why. */
  List<String> notes() {
    return notes;
  }

  /** One that has failed takes no further part. */
  void leaveOut(Subject subject, Exception why) {
    subjects.remove(subject);
    subject.contestant().close();
    notes.add(subject.kind().label() + " failed: " + why);
  }

  /** The servers end whatever becomes of the others. */
  @Override
  public void close() {
    subjects.forEach(subject -> opened.add(0, subject.contestant()));
    try (nodes) {
      for (AutoCloseable each : opened) {
        try {
          each.close();
        } catch (Exception e) {
          notes.add("not closed: " + e);
        }
      }
    }
  }
}
