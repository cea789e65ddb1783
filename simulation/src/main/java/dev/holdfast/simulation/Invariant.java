package dev.holdfast.simulation;

import java.util.Locale;

/** What must be so in every history. */
enum Invariant {
  EXCLUSION("two leases on one name never believe themselves valid at the same time"),
  NO_REVIVAL("a lease that was lost or released is never held again"),
  OWN_KEYS_ONLY("nobody deletes, overwrites or prolongs a key that holds another's token"),
  NEVER_SHORTENED("the key of a held lease is neither deleted nor shortened by a command"),
  LOST_ONCE("lost() completes at most once, never while held, and never after a good release"),
  LOSS_TOLD("lost() completes within 1 s of the end of validity, its process's stalls left out"),
  BORN_HELD("a lease is held at the moment at which it is handed over"),
  HOLD_LIMIT("no lease is held for longer than keepAliveUpTo"),
  STRAGGLERS(
      "a round waits for a minority only for nodeTimeout, or once more as long as the others took"),
  OUTAGE("contention is reported where a quorum voted, an outage where none did in time"),
  LOSS_REASON("the reason of a loss is the true one"),
  RELEASE_ANSWER("a release is true if a quorum had the lock, false if one had not, else it fails"),
  RENEWAL("a lease is renewed first when a third of the ttl has passed since its attempt began"),
  CALL_LIMIT(
      "no call outlives its own limit by more than one attempt, its process's stalls left out"),
  LIVENESS("somebody gets each name within the longest ttl and 1 s after healing"),
  NO_ORPHANS("what was given back, or not granted, leaves no key where its nodes can be reached"),
  UNDISTURBED("without faults no request fails, and no lease is lost before its time"),
  FENCING("fencing tokens of one name strictly increase"),
  NEXT("whoever is first in line asks when its own process has given the lock back"),
  LISTENS("whoever waits for long, and not for a lease of its own, listens at every node in reach"),
  TOLD("whoever waits and is told of a release by a quorum asks at once"),
  DEAF("whoever waits no more listens no more"),
  NO_SURPRISE("no exception but those that the API names");

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
