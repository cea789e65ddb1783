package dev.holdfast.simulation;

import java.util.Locale;

/** A property of every history. */
enum Invariant {
  EXCLUSION("two leases on one name never believe themselves valid at the same time"),
  NO_REVIVAL("a lease that was lost or released is never held again"),
  OWN_KEYS_ONLY(
      "no other client deletes, overwrites or extends a key that holds the token of a lease"),
  NEVER_SHORTENED("the key of a held lease is neither deleted nor shortened by a command"),
  LOST_ONCE("onLoss() completes at most once, never while held, and never after a good release"),
  LOSS_NOTIFIED(
      "onLoss() completes within 1 s of the end of validity, stalls of its process excluded"),
  BORN_HELD("a lease is held at the time at which it is granted"),
  HOLD_KEPT(
      "a lock that was released early is not granted before holdAtLeast is over, unless a quorum of"
          + " nodes never had its key or lost data since"),
  HOLD_LIMIT("no lease is held for longer than keepAliveUpTo"),
  STRAGGLERS(
      "a round waits for a minority only for nodeTimeout, or for as much time again as the others"
          + " took"),
  OUTAGE("contention is reported if a quorum voted, an outage if no quorum voted in time"),
  LOSS_REASON("the reason of a loss is the true one"),
  RELEASE_ANSWER(
      "a release is true if a quorum had the lock, false if a quorum had not, and fails otherwise"),
  RENEWAL("the first renewal is sent when a third of the ttl has passed since the attempt began"),
  CALL_LIMIT(
      "no call exceeds its own limit by more than one attempt, stalls of its process excluded"),
  LIVENESS("each name is granted to a client within the longest ttl and 1 s after healing"),
  NO_ORPHANS("a lock that was released or not granted leaves no key on nodes that can be reached"),
  UNDISTURBED("without faults no request fails, and no lease is lost before its time"),
  ADOPTED_ONCE("a text gives its lock to one adoption at most"),
  FENCING("fencing tokens of one name strictly increase"),
  NEXT("the head of a wait queue makes an attempt when its own process has released the lock"),
  SUBSCRIBED(
      "a long waiter is subscribed at every reachable node, unless its own process holds the lock"),
  NOTIFIED("a waiter that is notified of a release by a quorum makes an attempt at once"),
  UNSUBSCRIBED("a process without waiters is not subscribed"),
  NO_SURPRISE("no exceptions except those of the API");

  private final String sentence;

  Invariant(String sentence) {
    this.sentence = sentence;
  }

  String sentence() {
    return sentence;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
