package dev.holdfast.tck.env;

/** A fault of a node that an environment may be able to make. */
public enum TckFault {
  /** It answers nothing, and keeps its connections and data; what it was sent it does later. */
  FROZEN,
  /** It pauses for 120 ms again and again, so that it answers everything, but most of it late. */
  SLOW,
  /** It is gone, and so is its data; at the end it is there again, empty. */
  DEAD,
  /**
   * It refuses all that would write, except for releases, with an error that is nobody's mistake.
   */
  REFUSING,
  /** It refuses the lock for a reason that a person must mend, such as a missing right. */
  FORBIDDEN,
  /** It runs no scripts for managers: a missing right that they have to make do without. */
  NO_SCRIPTS,
  /** It notifies managers of no release: a missing right to subscribe, which costs no lock. */
  NO_SUBSCRIPTIONS,
  /** It holds something under the lock's name that is no lock. */
  OTHER_TYPE,
  /** It follows another node, and takes no writes. */
  REPLICA,
  /** It may drop locks to make room for other data. */
  EVICTING,
  /** At once, and over at once: it ends all connections. */
  CUT,
  /**
   * At once, and over at once: it ends the connections on which it notifies managers of releases,
   * and no others.
   */
  SUBSCRIPTIONS_CUT,
  /** It refuses new connections that do not log in. */
  LOGIN_NEEDED,
  /** At once, and over at once: it forgets the scripts that it was sent. */
  SCRIPTS_FORGOTTEN,
  /** At once, and over at once: its data is gone, its connections stay. */
  EMPTIED
}
