package dev.holdfast.simulation;

import org.jspecify.annotations.Nullable;

/** Something that happens at one point of true time, to a client's process or to none. */
final class Event {
  /** Its place, while it is in no queue. */
  static final int NOWHERE = -1;

  long at;
  long number;
  int place = NOWHERE;
  final @Nullable Host host;
  final Runnable action;

  Event(long at, long number, @Nullable Host host, Runnable action) {
    this.at = at;
    this.number = number;
    this.host = host;
    this.action = action;
  }

  boolean isBefore(Event other) {
    return at != other.at ? at < other.at : number < other.number;
  }
}
