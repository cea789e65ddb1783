package dev.holdfast.core;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * The events in the flight recorder, which docs/listeners.md describes. An event of which nothing
 * is recorded is not allocated once its code is compiled. The recorder is not initialised by a look
 * at it, because that takes a tenth of a second.
 */
final class JfrFlight implements Flight {
  private static final String CATEGORY = "Holdfast";

  @Override
  public boolean isActive() {
    return FlightRecorder.isInitialized()
        && (new Acquire().isEnabled() || new Hold().isEnabled() || new Lost().isEnabled());
  }

  @Override
  public Span acquire(String name) {
    Acquire event = new Acquire();
    if (!event.isEnabled()) {
      return Span.NONE;
    }
    event.name = name;
    event.begin();
    return outcome -> {
      event.outcome = outcome;
      event.commit();
    };
  }

  @Override
  public Span hold(String name, long leaseId) {
    Hold event = new Hold();
    if (!event.isEnabled()) {
      return Span.NONE;
    }
    event.name = name;
    event.leaseId = leaseId;
    event.begin();
    return outcome -> {
      event.outcome = outcome;
      event.commit();
    };
  }

  @Override
  public void lost(String name, long leaseId, String reason, long heldNanos) {
    if (!FlightRecorder.isInitialized()) {
      return;
    }
    Lost event = new Lost();
    if (event.isEnabled()) {
      event.name = name;
      event.leaseId = leaseId;
      event.reason = reason;
      event.held = heldNanos;
      event.commit();
    }
  }

  @Override
  public void nodeDown(String node, String cause) {
    NodeDown event = new NodeDown();
    if (event.isEnabled()) {
      event.node = node;
      event.cause = cause;
      event.commit();
    }
  }

  /** A request, from the call to its result. */
  @Name("dev.holdfast.Acquire")
  @Label("Acquire")
  @Category(CATEGORY)
  @Description("A request for a lock, from the call to its result")
  @StackTrace(false)
  static final class Acquire extends Event {
    @Label("Lock")
    String name = "";

    @Label("Outcome")
    @Description("GRANTED, or the reason why not")
    String outcome = "";
  }

  /** A lease, from its grant to the answer to its release. */
  @Name("dev.holdfast.Hold")
  @Label("Hold")
  @Category(CATEGORY)
  @Description("A lease, from its grant until its release is answered")
  @StackTrace(false)
  static final class Hold extends Event {
    @Label("Lock")
    String name = "";

    @Label("Lease")
    long leaseId;

    @Label("End")
    @Description("RELEASED, UNCONFIRMED, TRANSFERRED or LOST")
    String outcome = "";
  }

  /** The loss of a lease. */
  @Name("dev.holdfast.Lost")
  @Label("Lost")
  @Category(CATEGORY)
  @Description("A lease ended without a release by its holder")
  @StackTrace(false)
  static final class Lost extends Event {
    @Label("Lock")
    String name = "";

    @Label("Lease")
    @Description("0 if its request began without a listener and before the recording")
    long leaseId;

    @Label("Reason")
    String reason = "";

    @Label("Held")
    @Timespan(Timespan.NANOSECONDS)
    long held;
  }

  /** The loss of the connection to a node. */
  @Name("dev.holdfast.NodeDown")
  @Label("Node Down")
  @Category(CATEGORY)
  @Description("A node is not connected, or does not answer")
  @StackTrace(false)
  static final class NodeDown extends Event {
    @Label("Node")
    String node = "";

    @Label("Cause")
    String cause = "";
  }
}
