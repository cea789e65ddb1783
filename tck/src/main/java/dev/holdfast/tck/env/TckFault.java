package dev.holdfast.tck.env;

/** A fault of a node that an environment may be able to make. */
public enum TckFault {
  /**
   * The node answers nothing, and keeps its connections and data. It executes later what it was
   * sent.
   */
  FROZEN,
  /**
   * The node pauses for 120 ms again and again, so that it answers everything, but most of it late.
   */
  SLOW,
  /** The node is gone, and so is its data. At the end it is back, empty. */
  DEAD,
  /**
   * The node refuses all writes except for releases, with an error that is not due to a mistake in
   * the configuration.
   */
  REFUSING,
  /**
   * The node refuses the lock for a reason that an operator must correct, such as a missing right.
   */
  FORBIDDEN,
  /** The node runs no scripts for managers: a missing right without which they must manage. */
  NO_SCRIPTS,
  /**
   * The node notifies managers of no release: a missing right to subscribe, which costs no lock.
   */
  NO_SUBSCRIPTIONS,
  /** The node gives managers the right to the commands that docs/acl.md lists, and to no other. */
  LEAST_RIGHTS,
  /** The node holds something under the lock's name that is no lock. */
  OTHER_TYPE,
  /** The node follows another node, and takes no writes. */
  REPLICA,
  /** The node may drop locks to make room for other data. */
  EVICTING,
  /** At once, and over at once: the node ends all connections. */
  CUT,
  /**
   * At once, and over at once: the node ends the connections on which it notifies managers of
   * releases, and no others.
   */
  SUBSCRIPTIONS_CUT,
  /** The node refuses new connections that do not log in. */
  LOGIN_NEEDED,
  /** At once, and over at once: the node forgets the scripts that it was sent. */
  SCRIPTS_FORGOTTEN,
  /** At once, and over at once: the node's data is gone, its connections stay. */
  EMPTIED
}
