package dev.holdfast.core;

/**
 * The delay of a waiter between a release notification and its next attempt. A notification reaches
 * the waiters of all processes at once: without a random delay their attempts would split the
 * nodes' votes. Immutable.
 *
 * @param shortened how many notifications have shortened a back-off of this waiter. The delay
 *     halves with each, three times, and then starts over, so that waiters that were notified
 *     without success come first, and a crowd does not gather in the shortest delay
 * @param turnsBeforeOurs how many other managers have a turn before this waiter after it yielded to
 *     them, or {@link #NO_ORDER} if no order of turns is known
 */
record NotificationBackoff(int shortened, int turnsBeforeOurs) {
  /**
   * The time for which a waiter yields to the waiters of other managers: they need it to receive a
   * notification and to ask all nodes. In nanoseconds.
   */
  static final long YIELD_NANOS = 5_000_000;

  private static final int NO_ORDER = -1;

  /** The longest delays after a notification, each shorter than {@link #YIELD_NANOS}. */
  private static final long[] DELAYS_NANOS = {2_000_000, 1_000_000, 500_000, 250_000};

  private static final long SHORTEST_DELAY_NANOS = DELAYS_NANOS[DELAYS_NANOS.length - 1];

  /** The state of a waiter that was never notified. */
  static final NotificationBackoff NONE = new NotificationBackoff(0, NO_ORDER);

  /**
   * Returns the longest delay after a notification that comes now. In an order of turns the waiter
   * whose turn it is comes first, and the others follow in case it does not come.
   *
   * @return nanoseconds, above zero
   */
  long delayNanos() {
    if (turnsBeforeOurs == NO_ORDER) {
      return DELAYS_NANOS[shortened % DELAYS_NANOS.length];
    }
    return turnsBeforeOurs == 0 ? SHORTEST_DELAY_NANOS : YIELD_NANOS;
  }

  /** Returns the state after a notification: one turn of the others is over. */
  NotificationBackoff onNotified() {
    return new NotificationBackoff(shortened, Math.max(turnsBeforeOurs - 1, NO_ORDER));
  }

  /** Returns the state after a notification that shortened a back-off. */
  NotificationBackoff onShortened() {
    return new NotificationBackoff(shortened + 1, turnsBeforeOurs);
  }

  /**
   * Returns the state of a waiter that yields to others.
   *
   * @param others how many other managers wait. A single one needs no order of turns
   */
  NotificationBackoff yieldTo(int others) {
    return new NotificationBackoff(shortened, others > 1 ? others - 1 : NO_ORDER);
  }
}
