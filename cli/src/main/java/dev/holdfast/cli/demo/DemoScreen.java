package dev.holdfast.cli.demo;

import dev.holdfast.cli.terminal.Terminal;

/** The screen of a demo. */
interface DemoScreen extends AutoCloseable {
  /** Returns the time between two updates of the screen. */
  long everyMillis();

  /** Returns whether the screen shows the votes of the nodes on each lock. */
  boolean showsLocks();

  /** Says what is being done before there is anything to show. */
  void say(String text);

  /** Shows how things stand. */
  void show(DemoView view);

  /** Shows how things stand at the end, if that is not plain already. */
  void end(DemoView view);

  /** Leaves the terminal as it was. */
  @Override
  void close();

  /** Returns the screen that suits this terminal, if it is one. */
  static DemoScreen of(DemoPlan plan) {
    if (plan.json()) {
      return new DemoLines(System.err);
    }
    return Terminal.canRedraw()
        ? new DemoTable(System.out, Terminal.wantsColour())
        : new DemoLines(System.out);
  }
}
