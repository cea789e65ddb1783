package dev.holdfast.redlock.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state of a {@link CommandConnection}, which goes forward only, phase by phase.
 *
 * @param wasOpen whether the node has answered, so that commands may have been written
 * @param writer null before there is something to close
 * @param <E> an encoded command
 */
record ConnectionState<E>(Phase phase, boolean wasOpen, @Nullable CommandWriter<E> writer) {
  enum Phase {
    /** Begun: commands fail. */
    CONNECTING,
    /** Connected: commands are written. */
    OPEN,
    /** Dropped: no command is written, those that were written may still be answered. */
    STOPPED,
    /** The client's connection has ended: unanswered commands are failing. */
    ENDED,
    /** No command is left, and the last answers are on their way to their receivers. */
    DRAINED,
    /** All was answered, and the end was reported. */
    OVER
  }

  static <E> ConnectionState<E> begun() {
    return new ConnectionState<>(Phase.CONNECTING, false, null);
  }

  ConnectionState<E> with(CommandWriter<E> begun) {
    return new ConnectionState<>(phase, false, begun);
  }

  ConnectionState<E> in(Phase next) {
    return new ConnectionState<>(next, wasOpen || next == Phase.OPEN, writer);
  }

  boolean isBefore(Phase other) {
    return phase.compareTo(other) < 0;
  }

  /** Returns the writer of a connection that is open. */
  CommandWriter<E> openWriter() {
    return Objects.requireNonNull(writer, "onBegun comes before onConnected");
  }
}
