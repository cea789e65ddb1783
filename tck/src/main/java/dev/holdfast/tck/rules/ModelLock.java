package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One lock of a {@link History}, as it must be if each call so far was right. */
final class ModelLock {
  /** The time of a call on a machine that stalls. */
  private static final Duration LONGEST_CALL = Duration.ofSeconds(5);

  private final String name;

  /** Managers that may still know another holder of it, or have an attempt in flight. */
  final Set<Integer> behind = new HashSet<>();

  State state = new Free();
  @Nullable Waiter waiter;
  Damage damage = Damage.NONE;

  ModelLock(String name) {
    this.name = name;
  }

  /** The owner of a lock. */
  sealed interface State {
    /** Returns the label of the owner, or empty if it is not known. */
    default Optional<String> label() {
      return Optional.empty();
    }
  }

  /** The state without an owner. */
  record Free() implements State {}

  /**
   * The state with a lease.
   *
   * @param end of its ttl
   * @param minimum the end of the time for which others are kept out, or null
   */
  record Held(int manager, Lease lease, Optional<String> label, Span end, @Nullable Span minimum)
      implements State {}

  /** The state without a lease: taken for some time, or until it is released by force. */
  record Kept(Optional<String> label, Span until) implements State {}

  /** The state between a transfer and an adoption. */
  record Transferred(String text) implements State {}

  /** The damage to a minority of its nodes. */
  enum Damage {
    NONE,
    /** Another owner has taken it there. */
    OCCUPIED,
    /** They have lost it. */
    LOST
  }

  /**
   * A request that waits for a lock.
   *
   * @param abandon ends the wait
   */
  record Waiter(
      int manager,
      Optional<String> label,
      Duration ttl,
      long begun,
      CompletableFuture<Lease> answer,
      Runnable abandon) {}

  /**
   * A time of which it is known that it is neither before nor after two others, which {@link
   * System#nanoTime} has.
   */
  record Span(long from, long to) {
    /** Returns the end of a time that began during a call. */
    static Span after(long begun, long ended, Duration time) {
      return new Span(begun + time.toNanos(), ended + time.toNanos());
    }

    /** Returns whether no call that begins now can last as long. */
    boolean isFarAhead() {
      return System.nanoTime() - from < -LONGEST_CALL.toNanos();
    }

    boolean isOver() {
      return System.nanoTime() - to > 0;
    }

    Span orLater(Span other) {
      return new Span(from - other.from > 0 ? from : other.from, to - other.to > 0 ? to : other.to);
    }
  }

  String name() {
    return name;
  }

  /** Returns whether it is free, which the end of a time can make it. */
  boolean isFree() {
    if (state instanceof Kept kept && waiter == null && kept.until().isOver()) {
      free();
    }
    return state instanceof Free;
  }

  /** Returns whether another owner has it for sure. */
  boolean isTaken() {
    return !isFree() && !(state instanceof Kept kept && !kept.until().isFarAhead());
  }

  /** Returns whether a release may keep others out. */
  boolean mayBeKept() {
    return held().map(Held::minimum).isPresent();
  }

  Optional<Held> held() {
    return state instanceof Held held ? Optional.of(held) : Optional.empty();
  }

  void free() {
    state = new Free();
    if (damage == Damage.LOST) {
      damage = Damage.NONE;
    }
  }

  @Override
  public String toString() {
    return "'" + name + "' (" + state.getClass().getSimpleName() + ")";
  }
}
