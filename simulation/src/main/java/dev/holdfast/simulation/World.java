package dev.holdfast.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One run: true time in microseconds, one source of randomness, and all that there is. */
final class World {
  /** The factor by which one client's longest ttl differs from that of the others. */
  private static final int STRANGE = 8;

  /** The option in which one client differs from all others. The first is that of no client. */
  private enum Strangeness {
    NONE,
    LONGER_TTL,
    SHORTER_TTL,
    FEWER_NODES
  }

  final SplittableRandom random;
  final Profile profile;
  final Rates rates;
  final Trace trace;
  final Judge judge;
  final Setting setting;
  final List<Node> nodes = new ArrayList<>();
  final List<Host> hosts = new ArrayList<>();
  private final EventQueue queue = new EventQueue();
  private final long healing;
  private final Strangeness strangeness;
  private long number;
  private long now;

  World(long seed, Profile profile, Trace trace, @Nullable Invariant only) {
    this.random = new SplittableRandom(seed);
    this.profile = profile;
    this.rates = profile.rates();
    this.trace = trace;
    this.setting = Setting.drawn(random, profile);
    this.healing = setting.healing();
    this.strangeness =
        rates.stranger
            ? Strangeness.values()[1 + random.nextInt(Strangeness.values().length - 1)]
            : Strangeness.NONE;
    this.judge = new Judge(this, only);
    for (int node = 0; node < setting.nodes(); node++) {
      nodes.add(new Node(this, node));
    }
  }

  /** Returns the true time, in microseconds. */
  long now() {
    return now;
  }

  /** Returns the time at which all faults end. */
  long healing() {
    return healing;
  }

  /** Returns whether all faults are over. */
  boolean isHealed() {
    return now >= healing;
  }

  /** Returns a client's option {@code maxTtl}. */
  int longestTtlMillis(boolean ofStranger) {
    boolean isShort =
        strangeness == (ofStranger ? Strangeness.SHORTER_TTL : Strangeness.LONGER_TTL);
    return setting.longestTtlMillis() / (isShort ? STRANGE : 1);
  }

  /** Returns the number of nodes in a client's list. */
  int nodes(boolean ofStranger) {
    boolean isFewer = ofStranger && strangeness == Strangeness.FEWER_NODES;
    return isFewer ? setting.quorum() : setting.nodes();
  }

  /** Plans what happens to a client's process: not while it stands still, nor after its death. */
  Event at(long when, @Nullable Host host, Runnable action) {
    Event event = new Event(Math.max(when, now), number++, host, action);
    queue.add(event);
    return event;
  }

  void cancel(Event event) {
    queue.remove(event);
  }

  Event in(long micros, Runnable action) {
    return at(now + micros, null, action);
  }

  /** Lets time pass until the end, or until an invariant is broken. */
  void run() {
    long end = setting.end();
    while (!queue.isEmpty() && !judge.isBroken()) {
      Event event = queue.remove();
      if (event.at >= end) {
        now = end;
        return;
      }
      now = event.at;
      Host host = event.host;
      if (host == null) {
        event.action.run();
      } else if (host.isAlive()) {
        if (host.pausedUntil() > now) {
          event.at = host.pausedUntil();
          event.number = number++;
          queue.add(event);
        } else {
          host.run(event.action);
        }
      }
    }
  }

  boolean chance(int perMille) {
    return perMille > 0 && random.nextInt(1_000) < perMille;
  }

  /** Returns a time between two times, with short times as likely as long ones. */
  long spread(long shortest, long longest) {
    double ratio = (double) Math.max(longest, shortest + 1) / shortest;
    return (long) (shortest * Math.pow(ratio, random.nextDouble()));
  }

  /** Returns a ttl of a request, in milliseconds. One in seven may be too short for any attempt. */
  long ttl(int longest) {
    long usual = setting.usualTtlMillis(longest);
    return chance(150) ? spread(setting.shortestTtlMillis(), usual) : spread(usual, longest);
  }

  void note(int client, int node, String what, String about) {
    trace.add(now, client, node, what, about.hashCode(), () -> about);
  }

  /** Notes an event that happens often. Its text is made only if the trace is printed. */
  void note(int client, int node, String what, long digest, Supplier<String> about) {
    trace.add(now, client, node, what, digest, about);
  }
}
