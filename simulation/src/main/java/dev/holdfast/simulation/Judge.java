package dev.holdfast.simulation;

import dev.holdfast.simulation.KeySpace.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Watches that the invariants hold, by true time. It asks leases what their holders could ask them,
 * and nodes what no process can see.
 *
 * <p>Without the restart guard, nodes that lose their data and vote at once break exclusion, as the
 * Redlock page says. So two leases may overlap if as many nodes lost data since the first was asked
 * for as any two quorums have in common: for an odd N, that is one. Such pairs are counted, not
 * judged. With the guard, nothing is excused.
 *
 * <p>A fencing token may be smaller than one before it if the clocks it follows are behind that one
 * and the counters that would make up for it are gone: lost by as many nodes, and with the guard
 * also a quarantine ago. That is the documented limit, and counted too.
 */
final class Judge {
  private static final long MILLI = 1_000;
  private static final long SECOND = 1_000_000;
  private static final long SWEEP = SECOND;
  private static final long LOOK = SECOND / 4;

  /** Nodes follow no clock that is further from theirs. */
  private static final long CLOCK_OFF = 10_000_000;

  /** The time for releases to be sent, again after a second if necessary, and answered. */
  private static final long TIME_TO_CLEAN = 2_500_000;

  final Listening listening;
  final Polls polls;
  final KeptHolds keptHolds;
  private final World world;
  private final @Nullable Invariant only;
  private final Map<String, List<Holding>> holdings = new HashMap<>();
  private final Map<String, Holding> byToken = new HashMap<>();
  private final Map<String, Fenced> fences = new HashMap<>();
  private final Set<String> gotAfterHealing = new HashSet<>();
  private final List<Call> calls = new ArrayList<>();
  private @Nullable Violation violation;
  private long grants;
  private long excused;
  private long secondTrips;
  private long regressions;
  private long quarantinedAt;

  /** The largest fencing token of a name, and who was given it. */
  private record Fenced(long token, Holding holding) {}

  /** The first invariant that was broken. */
  record Violation(Invariant invariant, String what) {}

  /** A call in flight, and how long it may take of the time in which its process runs. */
  static final class Call {
    private final Host host;
    private final String what;
    private final long runningAtStart;
    private long limit;
    private boolean done;

    Call(Host host, String what, long limit) {
      this.host = host;
      this.what = what;
      this.runningAtStart = host.ranFor();
      this.limit = limit;
    }

    /** Notes that the call must end now, within the tolerance for timers. */
    void ends() {
      limit = Math.min(limit, host.ranFor() - runningAtStart + 10 * MILLI);
    }
  }

  /** Returns the lease of a token, or null if no client has got it. */
  @Nullable Holding holding(String token) {
    return byToken.get(token);
  }

  /**
   * Judges a world.
   *
   * @param only the one invariant that counts, or null for all of them
   */
  Judge(World world, @Nullable Invariant only) {
    this.world = world;
    this.only = only;
    this.listening = new Listening(world, this);
    this.polls = new Polls(world, this);
    this.keptHolds = new KeptHolds(world, this);
  }

  boolean isBroken() {
    return violation != null;
  }

  @Nullable Violation violation() {
    return violation;
  }

  long grants() {
    return grants;
  }

  long excused() {
    return excused;
  }

  /**
   * Returns the number of grants that needed a second trip for their fencing token, or tried one.
   */
  long secondTrips() {
    return secondTrips;
  }

  /** Returns the number of fencing tokens that were not larger, within the documented limit. */
  long regressions() {
    return regressions;
  }

  static String shortened(String word) {
    int label = word.length() - 41;
    return label > 0 && word.charAt(label) == ':' ? word.substring(0, label + 7) : word;
  }

  void surprise(int client, Throwable failure) {
    // only a replay has stack traces, and its digest must be the same
    world.note(client, Trace.NONE, "throws", 0, () -> "at " + List.of(failure.getStackTrace()));
    broken(Invariant.NO_SURPRISE, client, failure.toString());
  }

  // ---- leases
  // ------------------------------------------------------------------------------------

  void granted(Holding holding) {
    grants++;
    String name = holding.lease.name();
    listening.asks(holding.host, name);
    keptHolds.granted(holding);
    if (world.isHealed() && !holding.host.isStranger) {
      gotAfterHealing.add(name);
    }
    byToken.put(holding.lease.token(), holding);
    if (holding.lease.isHeld() || holding.host.isCalledBackAtOnce()) {
      holding.lease.fencingToken().ifPresent(token -> fenced(holding, token));
    }
    if (!holding.lease.isHeld()) {
      if (holding.host.isCalledBackAtOnce()) {
        broken(Invariant.BORN_HELD, holding.host.id(), holding + " is not held");
      }
      holding.seenLost();
      return;
    }
    List<Holding> others = holdings.computeIfAbsent(name, n -> new ArrayList<>());
    others.removeIf(Holding::isOver);
    for (Holding other : others) {
      if (believesItIsHeld(other)) {
        overlap(other, holding);
      }
    }
    others.add(holding);
    holding.granted();
    polls.keeps(holding);
  }

  private void fenced(Holding holding, long token) {
    Fenced largest = fences.get(holding.lease.name());
    if (largest == null || token > largest.token()) {
      fences.put(holding.lease.name(), new Fenced(token, holding));
    } else if (mayRegress(holding, largest)) {
      regressions++;
    } else {
      broken(
          Invariant.FENCING,
          holding.host.id(),
          holding + " has " + token + ", after " + largest.holding() + " had " + largest.token());
    }
  }

  /**
   * Returns whether a fencing token may be smaller. The client's clock is behind, and the counters
   * that would make up for that are lost.
   */
  private boolean mayRegress(Holding holding, Fenced largest) {
    long slowestNode = world.nodes.stream().mapToLong(Node::micros).min().orElseThrow();
    long clock = holding.host.clock.wallMicros();
    clock = Math.max(slowestNode - CLOCK_OFF, Math.min(clock, slowestNode + CLOCK_OFF));
    long proposed = clock - holding.request.ttl().toNanos() / MILLI;
    long then = largest.holding().askedAt;
    long lost = world.nodes.stream().filter(node -> node.lostCountersSince(then)).count();
    boolean voteAgain = world.now() - then > world.setting.quarantine() * 99 / 100;
    return proposed <= largest.token() && lost >= common() && voteAgain;
  }

  /** Returns the number of nodes that any two quorums have in common. */
  private long common() {
    return 2L * world.setting.quorum() - world.setting.nodes();
  }

  void secondTrip() {
    secondTrips++;
  }

  void extended(Holding holding) {
    if (!believesItIsHeld(holding)) {
      return;
    }
    for (Holding other : holdings.getOrDefault(holding.lease.name(), List.of())) {
      if (other != holding && believesItIsHeld(other)) {
        overlap(other, holding);
      }
    }
  }

  void releasing(Holding holding) {
    holding.heldWhenReleased = holding.lease.isHeld();
    holding.over(world.now());
    holding.endExtensions();
  }

  /** Notes that the holder has the text. From now on an adoption may be granted. */
  void transferred(Holding holding) {
    if (holding.timesLost > 0) { // that it is not held may be seen before the text is there
      broken(Invariant.NO_REVIVAL, holding.host.id(), holding + " was lost, but is transferred");
    }
    requireNotHeld(holding, "after its transfer");
    holding.heldWhenReleased = true;
    holding.endExtensions();
    holding.closed(world.now()); // its keys are left to the adoption, or to expire
  }

  /** Notes that a text has given a lease. */
  void adopted(Holding holding, Transfers.Delivery delivery) {
    if (delivery.adoptions().incrementAndGet() > 1 && !delivery.from().isPutBack) {
      broken(
          Invariant.ADOPTED_ONCE,
          holding.host.id(),
          holding + " is the second from the text of " + delivery.from());
    }
  }

  void released(Holding holding) {
    requireNotHeld(holding, "after its release");
  }

  void releaseAnswered(Holding holding, boolean good) {
    if (good && (!holding.heldWhenReleased || holding.wasSeenLost())) {
      broken(
          Invariant.NO_REVIVAL,
          holding.host.id(),
          holding + " was lost, but its release succeeded");
    }
    requireNotHeld(holding, "after its release");
  }

  void lost(Holding holding) {
    holding.timesLost++;
    if (holding.timesLost > 1 || holding.heldWhenReleased) {
      broken(Invariant.LOST_ONCE, holding.host.id(), holding + " is reported as lost");
    }
    requireNotHeld(holding, "after onLoss()");
    holding.seenLost();
    holding.over(world.now());
    holding.endExtensions();
  }

  void holdIsOver(Holding holding) {
    if (!holding.isOver() && believesItIsHeld(holding)) {
      broken(Invariant.HOLD_LIMIT, holding.host.id(), holding + " is still held");
    }
  }

  private void requireNotHeld(Holding holding, String when) {
    if (holding.lease.isHeld()) {
      broken(Invariant.NO_REVIVAL, holding.host.id(), holding + " is held " + when);
    }
  }

  private void overlap(Holding first, Holding second) {
    long lost =
        world.nodes.stream()
            .filter(node -> node.lostDataSince(Math.min(first.askedAt, second.askedAt)))
            .count();
    if (lost >= common() && !world.setting.guard()) {
      excused += first.excuse() ? 1 : 0;
    } else {
      broken(Invariant.EXCLUSION, second.host.id(), first + " and " + second + " are both held");
    }
  }

  /**
   * Returns whether a holder may believe in its lease: a paused holder may go on with the answer
   * that it had.
   */
  private boolean believesItIsHeld(Holding holding) {
    if (holding.isOver() || !holding.host.isAlive()) {
      return false;
    }
    if (holding.host.isPaused()) {
      return !holding.wasSeenLost() && holding.claimsToBeHeld();
    }
    boolean held = holding.lease.isHeld();
    if (held && holding.wasSeenLost()) {
      broken(Invariant.NO_REVIVAL, holding.host.id(), holding + " is held again");
    }
    if (!held) {
      holding.seenLost();
    }
    return held;
  }

  void pausing(Host host) {
    for (List<Holding> ofName : holdings.values()) {
      for (Holding holding : ofName) {
        if (holding.host == host && believesItIsHeld(holding)) {
          holding.claim();
        }
      }
    }
  }

  void died(Host host) {
    for (List<Holding> ofName : holdings.values()) {
      ofName.stream().filter(holding -> holding.host == host).forEach(h -> h.over(world.now()));
    }
  }

  // ---- nodes
  // -------------------------------------------------------------------------------------

  void changed(Node node, Request request, @Nullable Entry before, @Nullable Entry after) {
    String token = before == null ? null : before.value();
    if (before == null || token == null) {
      notePutBack(after);
      return;
    }
    int client = request.connection().host().id();
    if (!request.names(token)) {
      broken(
          Invariant.OWN_KEYS_ONLY,
          client,
          "changes the key of " + shortened(token) + " at " + node);
    }
    boolean kept =
        after != null && token.equals(after.value()) && after.expiresAt() >= before.expiresAt();
    Holding holding = byToken.get(token);
    if (!kept && holding != null && believesItIsHeld(holding)) {
      broken(Invariant.NEVER_SHORTENED, client, "shortens " + holding + " at " + node);
    }
  }

  /** Notes a late renewal. Renewals after the transfer of a lease are the documented limit. */
  private void notePutBack(@Nullable Entry after) {
    Holding holding = after == null ? null : byToken.get(after.value());
    if (holding != null && holding.isOver()) {
      holding.isPutBack = true;
    }
  }

  void begin() {
    world.in(sweepInterval(), this::sweep);
    world.in(LOOK, this::requireLossesReported);
    world.at(
        world.setting.guard() ? world.healing() : world.setting.recovered(),
        null,
        this::requireRecovery);
  }

  private void sweep() {
    long then = world.now() - timeToClean();
    for (Node node : world.nodes) {
      if (world.profile.asks(Invariant.NO_ORPHANS) && node.worksSince() <= then) {
        node.keys().forEach((key, entry) -> requireOwner(node, key, entry, then));
      }
    }
    listening.sweep(world.now() - TIME_TO_CLEAN - world.rates.longestStallMillis * MILLI);
    world.in(sweepInterval(), this::sweep);
  }

  /** Returns how long an attempt and the release behind it take where nothing fails. */
  private long timeToClean() {
    return world.profile.asks(Invariant.UNDISTURBED)
        ? world.setting.trips(8) + 20 * MILLI
        : TIME_TO_CLEAN + world.rates.longestStallMillis * MILLI;
  }

  private long sweepInterval() {
    return world.profile.asks(Invariant.UNDISTURBED) ? SWEEP / 20 : SWEEP;
  }

  private void requireLossesReported() {
    for (List<Holding> ofName : holdings.values()) {
      for (Holding holding : ofName) {
        if (!holding.isOver()
            && holding.host.isAlive()
            && !holding.host.isPaused()
            && holding.overdue() > SECOND) {
          broken(
              Invariant.LOSS_NOTIFIED,
              holding.host.id(),
              holding + " ended a second ago, and onLoss() is not completed");
        }
      }
    }
    world.in(LOOK, this::requireLossesReported);
  }

  private void requireOwner(Node node, String key, Entry entry, long then) {
    if (!Workload.isLock(key)) {
      return;
    }
    String token = Objects.requireNonNull(entry.value());
    Node.Stored stored = Objects.requireNonNull(node.storedBy(token));
    Host host = stored.connection().host();
    Connection present = host.driver.present(node.id());
    boolean clean =
        host.isAlive()
            && host.pausedUntil() <= then
            && present != null
            && present.worksSince() <= then
            && stored.at() <= then;
    // a command that arrives after its connection has ended can come after the release
    boolean late = stored.connection().hadEndedAt(stored.at());
    // one that hung can come when its release, sent again for the longest ttl, is forgotten
    boolean hung =
        stored.at() - stored.sentAt() > SECOND
            && then - stored.sentAt() > host.longestTtlMillis * MILLI;
    if (!clean || late || hung || node.lostDataSince(stored.at())) {
      return;
    }
    Holding holding = byToken.get(token);
    if (holding == null || isToBeGone(holding, then)) {
      broken(
          Invariant.NO_ORPHANS,
          host.id(),
          "no lease holds " + shortened(token) + " any more, but " + key + " stands at " + node);
    }
  }

  /** Returns whether a client has held a lock at some time since then. */
  boolean hasHeld(Host host, String name, long then) {
    return holdings.getOrDefault(name, List.of()).stream()
        .anyMatch(held -> held.host == host && (!held.isOver() || held.overAt() > then));
  }

  private static boolean isToBeGone(Holding holding, long then) {
    // by its client's clock, which may not count sleep, and the release may be sent after a sleep
    long over = Math.max(holding.overAt(), holding.host.pausedUntil());
    // a lost lease leaves no key for longer than a ttl
    long atLeast = holding.request.holdAtLeast().toNanos() / MILLI;
    long most = holding.host.longestTtlMillis * MILLI;
    long kept = over + (holding.heldWhenReleased ? atLeast : Math.min(atLeast, most));
    return holding.isOver() && !holding.isClosed() && kept <= then;
  }

  // ---- calls
  // -------------------------------------------------------------------------------------

  Call calls(Host host, String what, long limitMicros) {
    long limit = limitMicros + limitMicros / 100 + 10 * MILLI;
    Call call = new Call(host, what, limit);
    if (limitMicros < Long.MAX_VALUE / 2) {
      calls.add(call);
    }
    return call;
  }

  void returned(Call call) {
    call.done = true;
    requireInTime(call);
  }

  private void requireInTime(Call call) {
    long took = call.host.ranFor() - call.runningAtStart;
    if (took > call.limit) {
      broken(
          Invariant.CALL_LIMIT,
          call.host.id(),
          call.what + " took " + took + " us of at most " + call.limit);
    }
  }

  void failed(Host host, String what, Throwable failure) {
    if (world.profile.asks(Invariant.UNDISTURBED)) {
      broken(Invariant.UNDISTURBED, host.id(), what + " failed: " + failure);
    }
  }

  void disturbed(Holding holding, String how) {
    if (world.profile.asks(Invariant.UNDISTURBED)) {
      broken(Invariant.UNDISTURBED, holding.host.id(), holding + " " + how);
    }
  }

  private void requireRecovery() {
    if (!world.profile.asks(Invariant.LIVENESS)) {
      return;
    }
    if (world.setting.guard() && world.nodes.stream().anyMatch(Node::isQuarantined)) {
      quarantinedAt = world.now();
    }
    long due = Math.max(world.setting.recovered(), quarantinedAt + SECOND);
    boolean late = world.now() >= Math.min(due, world.setting.recoveredAtLast());
    for (String name : Workload.names(world.setting)) {
      if (!gotAfterHealing.contains(name)) {
        if (late) {
          broken(Invariant.LIVENESS, Trace.NONE, "no client acquired " + name + " since healing");
        } else {
          world.in(SECOND / 20, this::requireRecovery);
          return;
        }
      }
    }
  }

  void end() {
    for (Call call : calls) {
      if (!call.done && call.host.isAlive()) {
        requireInTime(call);
      }
    }
    for (Holding holding : byToken.values()) {
      if (holding.isOver() && holding.host.isAlive()) {
        requireNotHeld(holding, "at the end");
      }
    }
  }

  void broken(Invariant invariant, int client, String what) {
    if (violation == null && (only == null || only == invariant)) {
      violation = new Violation(invariant, what);
      world.note(client, Trace.NONE, "BROKEN: " + invariant.label() + ":", what);
    }
  }
}
