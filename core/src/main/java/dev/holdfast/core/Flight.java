package dev.holdfast.core;

/**
 * The events in the JDK's flight recorder. Where the module jdk.jfr is missing there are none, and
 * no class of that module is loaded. Safe for use by many threads.
 */
interface Flight {
  /** The recorder of this JVM. */
  Flight RECORDER = isPresent() ? new JfrFlight() : new NoFlight();

  private static boolean isPresent() {
    return ModuleLayer.boot().findModule("jdk.jfr").isPresent();
  }

  /** Returns whether any event of a request or of a lease is recorded now. */
  boolean isActive();

  /** Begins the event of a request. */
  Span acquire(String name);

  /** Begins the event of a lease. */
  Span hold(String name, long leaseId);

  /** Records a loss. */
  void lost(String name, long leaseId, String reason, long heldNanos);

  /** Records that a node went down. */
  void nodeDown(String node, String cause);

  /** An event with a duration. */
  interface Span {
    /** The event of a recorder that does not record it. */
    Span NONE = outcome -> {};

    /**
     * Ends the event.
     *
     * @param outcome the result of a request, or the end of a lease
     */
    void end(String outcome);
  }
}
