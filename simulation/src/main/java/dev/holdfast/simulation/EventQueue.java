package dev.holdfast.simulation;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The events to come, soonest first, and of two at the same time the one that was planned first.
 */
final class EventQueue {
  /**
   * Most of what is added comes soon, and rises far: with four children, half as much as with two.
   */
  private static final int CHILDREN = 4;

  private @Nullable Event[] heap = new Event[512];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  void add(Event event) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    rise(size++, event);
  }

  Event remove() {
    Event first = at(0);
    remove(first);
    return first;
  }

  /**
   * Removes an event. Most timers are cancelled, and would fill the queue if they waited for their
   * time.
   */
  void remove(Event event) {
    int hole = event.place;
    if (hole < 0) {
      return;
    }
    event.place = Event.NOWHERE;
    Event last = at(--size);
    heap[size] = null;
    if (last != event) {
      sink(hole, last);
      rise(last.place, last);
    }
  }

  private void rise(int from, Event event) {
    int hole = from;
    while (hole > 0) {
      int parent = (hole - 1) / CHILDREN;
      Event above = at(parent);
      if (!event.isBefore(above)) {
        break;
      }
      put(hole, above);
      hole = parent;
    }
    put(hole, event);
  }

  private void sink(int from, Event event) {
    int hole = from;
    for (int first = CHILDREN * hole + 1; first < size; first = CHILDREN * hole + 1) {
      int child = first;
      for (int other = first + 1; other < Math.min(first + CHILDREN, size); other++) {
        if (at(other).isBefore(at(child))) {
          child = other;
        }
      }
      if (event.isBefore(at(child))) {
        break;
      }
      put(hole, at(child));
      hole = child;
    }
    put(hole, event);
  }

  private void put(int place, Event event) {
    heap[place] = event;
    event.place = place;
  }

  private Event at(int index) {
    return Objects.requireNonNull(heap[index]);
  }
}
