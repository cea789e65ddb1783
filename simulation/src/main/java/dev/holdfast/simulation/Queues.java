package dev.holdfast.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The requests of one client that are open, to know which had no other beside it. */
final class Queues {
  private final Map<String, List<Place>> open = new HashMap<>();
  private final Set<String> cancelled = new HashSet<>();

  /** One request, and how many attempts at its name its client had made before. */
  static final class Place {
    private final String name;
    private final int attempts;
    private boolean alone;

    Place(String name, int attempts) {
      this.name = name;
      this.attempts = attempts;
    }

    int attempts() {
      return attempts;
    }
  }

  Place enter(String name, int attempts) {
    Place place = new Place(name, attempts);
    List<Place> others = open.computeIfAbsent(name, n -> new ArrayList<>());
    place.alone = others.isEmpty() && !cancelled.contains(name);
    others.forEach(other -> other.alone = false);
    others.add(place);
    return place;
  }

  /** Returns whether it was the only one all the time. */
  boolean leave(Place place) {
    List<Place> others = open.get(place.name);
    if (others != null) {
      others.remove(place);
    }
    return place.alone;
  }

  /**
   * Notes a cancelled request. Its attempt may go on for a while, with other requests queued behind
   * it.
   */
  void cancelled(String name) {
    cancelled.add(name);
  }
}
