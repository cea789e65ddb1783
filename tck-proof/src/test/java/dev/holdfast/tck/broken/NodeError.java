package dev.holdfast.tck.broken;

/** An error in the place of a fake node's answer: a driver's exception. */
final class NodeError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Kind kind;

  /** The kind of remedy. */
  enum Kind {
    /** No person has to: it may be over the next time. */
    PASSING,
    /** It says nothing. */
    SILENT,
    /** A person must correct it. */
    MENDABLE,
    /** The node does not know the script, and has to be sent its source. */
    NO_SCRIPT,
    /** The connection ended, so no client knows whether the request was carried out. */
    DISCONNECTED,
    /** There was no connection to send it on. */
    UNSENT
  }

  NodeError(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  Kind kind() {
    return kind;
  }

  /** Whether the node may never have heard of the request. */
  boolean isUnheard() {
    return kind == Kind.DISCONNECTED || kind == Kind.UNSENT;
  }
}
