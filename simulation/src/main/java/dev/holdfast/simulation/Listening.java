package dev.holdfast.simulation;

import dev.holdfast.LockRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Judges that notified waiters try again, and that names without a waiter are unsubscribed. */
final class Listening {
  private static final long MILLI = 1_000;
  private static final long SECOND = 1_000_000;

  /** The longest delay of an attempt and of late timers. */
  private static final long MAX_DELAY = 20 * MILLI;

  private final World world;
  private final Judge judge;
  private final Map<Ask, Standing> standings = new HashMap<>();

  private record Ask(Host host, String key) {}

  /**
   * The messages that a client received for a key since its last attempt, and the number of
   * waiters.
   */
  private static final class Standing {
    private final Map<String, Long> onNotified = new HashMap<>();
    private long asked;
    private int waiting;
    private long idleSince;
    private final List<Long> patientSince = new ArrayList<>();

    /** Returns whether a client has waited since then for more than the answers to one attempt. */
    boolean isPatient(long then) {
      return patientSince.stream().anyMatch(since -> since <= then);
    }
  }

  Listening(World world, Judge judge) {
    this.world = world;
    this.judge = judge;
  }

  private Standing of(Host host, String key) {
    return standings.computeIfAbsent(new Ask(host, key), ask -> new Standing());
  }

  /** Notes that a request is made. */
  void waits(Host host, LockRequest request) {
    Standing standing = of(host, request.name());
    standing.waiting++;
    if (request.waitAtMost().isPresent()) {
      standing.patientSince.add(world.now());
    }
  }

  /** Notes that a request is answered, which was made at some time. */
  void waitsNoMore(Host host, LockRequest request, long since) {
    Standing standing = of(host, request.name());
    standing.waiting--;
    standing.idleSince = world.now();
    standing.patientSince.remove((Long) since);
  }

  /** Notes that an attempt is sent or a lease is granted. */
  void asks(Host host, String key) {
    Standing standing = of(host, key);
    standing.onNotified.clear();
    standing.asked++;
  }

  /** Notes that a node's message of a release has arrived. */
  void onNotified(Host host, Node node, String key, String message, Host by) {
    if (by == host) {
      return;
    }
    Standing standing = of(host, key);
    long notifiers = standing.onNotified.merge(message, 1L << node.id(), (all, one) -> all | one);
    if (standing.waiting > 0 && Long.bitCount(notifiers) == world.setting.quorum()) {
      requireAsking(Invariant.NOTIFIED, host, key, standing.asked);
    }
  }

  /** Returns how often a client has sent an attempt or got a lease. */
  long asked(Host host, String key) {
    return of(host, key).asked;
  }

  /**
   * Notes that a release is answered.
   *
   * @param asked the result of {@link #asked} when the release was sent
   */
  void onReleased(Host host, String key, long asked) {
    requireAsking(Invariant.NEXT, host, key, asked);
  }

  private void requireAsking(Invariant invariant, Host host, String key, long asked) {
    Standing standing = of(host, key);
    if (standing.waiting > 0) {
      boolean isSlow = host.pausedUntil() > world.now() - world.setting.quorumTimeout();
      after(
          attempt() + MAX_DELAY + (isSlow ? world.setting.quorumTimeout() : 0),
          host,
          () -> {
            if (standing.asked == asked && standing.waiting > 0 && canAsk(host)) {
              judge.broken(invariant, host.id(), key + " was released, but its waiter is idle");
            }
          });
    }
  }

  /**
   * Checks after a client has run for so long. A pause makes the attempt in flight slow, and so
   * does a pause that has just ended: that attempt waits for stragglers as long as for a quorum.
   */
  private void after(long micros, Host host, Runnable check) {
    long due = host.ranFor() + micros;
    world.at(
        world.now() + micros,
        host,
        () -> {
          if (host.ranFor() < due) {
            after(due - host.ranFor() + world.setting.quorumTimeout(), host, check);
          } else {
            check.run();
          }
        });
  }

  /**
   * Returns whether a client is connected to a quorum: others do not send commands that could not
   * succeed. An attempt goes on for longer if no quorum votes.
   */
  boolean canAsk(Host host) {
    long then = world.now() - attempt() - SECOND;
    long reached =
        world.nodes.stream()
            .filter(node -> host.driver.reaches(node, then) && node.votesSince(then))
            .count();
    return reached >= world.setting.quorum();
  }

  /**
   * Looks who listens.
   *
   * @param then since when it is to have worked, so that what was said on it has arrived
   */
  void sweep(long then) {
    standings.forEach((ask, standing) -> requireRight(ask, standing, then));
  }

  private void requireRight(Ask ask, Standing standing, long then) {
    Host host = ask.host();
    if (!host.isAlive() || host.pausedUntil() > then) {
      return;
    }
    boolean idle = standing.waiting == 0 && standing.idleSince <= then;
    boolean patient = standing.isPatient(then);
    if (!idle && !patient) {
      return;
    }
    for (Node node : world.nodes) {
      boolean listens = node.hears(ask.key(), host);
      if (idle && listens && host.driver.listens(node, then)) {
        judge.broken(Invariant.UNSUBSCRIBED, host.id(), "waits no more, but listens at " + node);
      } else if (patient
          && !listens
          && host.driver.mayListen(node, then)
          && !judge.hasHeld(host, ask.key(), then)) {
        judge.broken(Invariant.SUBSCRIBED, host.id(), "waits, but does not listen at " + node);
      }
    }
  }

  /** Returns the time of three trips while a quorum answers. */
  private long attempt() {
    return Math.min(3 * MILLI * world.setting.nodeTimeoutMillis(), world.setting.quorumTimeout());
  }
}
