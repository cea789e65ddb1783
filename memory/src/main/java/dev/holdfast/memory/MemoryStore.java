package dev.holdfast.memory;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ManagerOptions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a process and their holders. A test takes locks away with it, to see what the holder
 * makes of the loss:
 *
 * <pre>{@code
 * MemoryStore store = manager.unwrap(MemoryStore.class).orElseThrow();
 * store.steal("nightly-report", Duration.ofSeconds(30));
 * }</pre>
 *
 * <p>As with a store on other machines, a holder does not see at once what is done here: its lease
 * says that it is held until its own clock, its next renewal or extension, or its release tells
 * otherwise. To end a lease by its own clock, move that one ({@link ManualClock}).
 *
 * <p>Exact: a lock is held until the monotonic time of the store's clock has passed its ttl. A
 * lease goes by wall-clock time as well, so it never ends after its lock. Safe for use by many
 * threads.
 */
public final class MemoryStore {
  private static final String THIEF = "stolen";
  private static final int TOKEN_BYTES = 20;
  private static final Map<String, MemoryStore> SHARED = new ConcurrentHashMap<>();

  private final Clock clock;
  private final ConcurrentHashMap<String, Hold> holds = new ConcurrentHashMap<>();

  /**
   * The holds that were released but keep other owners out for a while, the first to end first. Not
   * a queue with a lock, because no call here may block: managers run on threads that must not
   * block.
   */
  private final Set<Reservation> reservations = new ConcurrentSkipListSet<>();

  /** One for all names, so that the store keeps nothing for a free lock. */
  private final AtomicLong fence = new AtomicLong();

  private volatile boolean isOutage;

  /**
   * One grant.
   *
   * @param until when it ends, as {@link Clock#nanos()}. The entry stays until the next access
   */
  record Hold(String owner, String token, long fence, long until) {
    Hold endingAt(long newEnd) {
      return new Hold(owner, token, fence, newEnd);
    }
  }

  /** A name, and the time after which its hold can be forgotten. */
  private record Reservation(String name, long until) implements Comparable<Reservation> {
    @Override
    public int compareTo(Reservation other) {
      int order = Long.signum(until - other.until);
      return order != 0 ? order : name.compareTo(other.name);
    }
  }

  MemoryStore(Clock clock) {
    this.clock = clock;
  }

  /** Returns the store of this name, which exists as long as the JVM. */
  static MemoryStore shared(String name) {
    return SHARED.computeIfAbsent(name, n -> new MemoryStore(Clock.system()));
  }

  /**
   * Ends a lock as if its ttl were over, so that another owner can acquire it now. Its holder finds
   * {@link LossReason#EXPIRED}, or {@link LossReason#TAKEN} if by then another owner has come.
   *
   * @param name the name of the lock
   * @return true if it was held
   */
  public boolean expire(String name) {
    while (true) {
      Hold hold = holds.get(name);
      if (hold == null || left(hold) <= 0) {
        return false;
      }
      if (holds.replace(name, hold, hold.endingAt(clock.nanos()))) {
        return true;
      }
    }
  }

  /**
   * Gives a lock to another owner, whether it is held or not. Its holder finds {@link
   * LossReason#TAKEN}. {@link #remove} takes it from the thief.
   *
   * @param name the name of the lock
   * @param ttl how long the thief has it, above zero, up to {@link ManagerOptions#LONGEST_MAX_TTL}
   * @throws LockConfigurationException if the name or the ttl is out of range
   */
  public void steal(String name, Duration ttl) {
    steal(name, newToken(THIEF), ttl);
  }

  /**
   * Steals as {@link #steal(String, Duration)} does, with a token of the caller's choice.
   *
   * @param name the name of the lock
   * @param token the token of the thief. A holder whose lease has this token holds the lock again
   * @param ttl how long the thief has it
   * @throws LockConfigurationException if the name or the ttl is out of range
   */
  public void steal(String name, String token, Duration ttl) {
    LockRequest theft = LockRequest.of(name, ttl);
    if (ttl.compareTo(ManagerOptions.LONGEST_MAX_TTL) > 0) {
      throw new LockConfigurationException(
          "the ttl of the theft is "
              + ttl
              + ": give at most "
              + ManagerOptions.LONGEST_MAX_TTL.toDays()
              + " days");
    }
    long until = clock.nanos() + theft.ttl().toNanos();
    holds.compute(name, (n, hold) -> new Hold(THIEF, token, fence.incrementAndGet(), until));
  }

  /**
   * Removes a lock, as an operator does. Its holder finds {@link LossReason#REMOVED}, or {@link
   * LossReason#TAKEN} if by then another owner has come.
   *
   * @param name the name of the lock
   * @return true if it was held
   */
  public boolean remove(String name) {
    Hold removed = holds.remove(name);
    return removed != null && left(removed) > 0;
  }

  /**
   * Returns the holder of a lock.
   *
   * @param name the name of the lock
   * @return its token, or empty if the lock is free
   */
  public Optional<String> holder(String name) {
    Hold hold = holds.get(name);
    return hold == null || left(hold) <= 0 ? Optional.empty() : Optional.of(hold.token());
  }

  /**
   * Begins or ends an outage, for all managers on this store. While it lasts, no quorum answers:
   * requests, extensions, transfers, adoptions, releases and inspections fail with {@link
   * LockOutageException}, and requests that wait go on trying. A release during an outage does not
   * arrive, so that its lock stays taken until its ttl is over. An adoption during an outage ends
   * its transfer: the lock is free, and the text is used up, as with nodes that were asked and did
   * not answer. The methods of this class work as before.
   *
   * @param on true to begin an outage, false to end it
   */
  public void outage(boolean on) {
    isOutage = on;
  }

  boolean isOutage() {
    return isOutage;
  }

  Clock clock() {
    return clock;
  }

  /** Makes a new hold, if the lock is free. */
  Optional<Hold> take(String name, String owner, long until) {
    forgetEnded();
    String token = newToken(owner);
    Hold inPlace =
        holds.compute(
            name,
            (n, hold) ->
                hold != null && left(hold) > 0
                    ? hold
                    : new Hold(owner, token, fence.incrementAndGet(), until));
    return inPlace.token().equals(token) ? Optional.of(inPlace) : Optional.empty();
  }

  /** Puts a new hold in the place of one. Empty if that was held until now. */
  Optional<LossReason> replace(String name, String token, Hold by) {
    return change(name, token, hold -> by);
  }

  /** Makes a hold that is not in the store yet, with a new token and fencing token. */
  Hold newHold(String owner, long until) {
    return new Hold(owner, newToken(owner), fence.incrementAndGet(), until);
  }

  /** Moves the end of a hold, never to an earlier time. Empty if it was held until now. */
  Optional<LossReason> extend(String name, String token, long until) {
    return change(name, token, hold -> hold.until() - until >= 0 ? hold : hold.endingAt(until));
  }

  /**
   * Moves the end of a hold that is released. Empty if it was held until now.
   *
   * @param mayLengthen whether the new end may be later than the present one
   */
  Optional<LossReason> keep(String name, String token, long until, boolean mayLengthen) {
    reservations.add(new Reservation(name, until));
    return change(
        name, token, hold -> mayLengthen || hold.until() - until > 0 ? hold.endingAt(until) : hold);
  }

  /** Removes holds that have ended, and that no holder is left to remove. */
  @SuppressWarnings("ModifyCollectionInEnhancedForLoop") // this set allows it, also to others
  private void forgetEnded() {
    long now = clock.nanos();
    for (Reservation first : reservations) {
      if (first.until() - now > 0) {
        return;
      }
      Hold hold = holds.get(first.name());
      if (reservations.remove(first) && hold != null && left(hold) <= 0) {
        holds.remove(first.name(), hold);
      }
    }
  }

  /** Ends a hold. Empty if it was held until now. */
  Optional<LossReason> release(String name, String token) {
    return change(name, token, hold -> null);
  }

  Optional<LockStatus> status(String name) {
    Hold hold = holds.get(name);
    long left = hold == null ? 0 : left(hold);
    return hold == null || left <= 0
        ? Optional.empty()
        : Optional.of(
            new LockStatus(name, hold.owner(), Duration.ofNanos(left), new LockVotes(1, 0, 0)));
  }

  private Optional<LossReason> change(
      String name, String token, Function<Hold, @Nullable Hold> change) {
    while (true) {
      Hold hold = holds.get(name);
      if (hold == null) {
        return Optional.of(LossReason.REMOVED);
      }
      if (!hold.token().equals(token)) {
        return Optional.of(LossReason.TAKEN);
      }
      boolean ended = left(hold) <= 0;
      Hold changed = ended ? null : change.apply(hold);
      if (changed == null ? holds.remove(name, hold) : holds.replace(name, hold, changed)) {
        return ended ? Optional.of(LossReason.EXPIRED) : Optional.empty();
      }
    }
  }

  /** Nanoseconds until its end. */
  private long left(Hold hold) {
    return hold.until() - clock.nanos();
  }

  /** Returns a new token of the same form as Redlock's. It keeps no secret here. */
  private static String newToken(String owner) {
    byte[] bytes = new byte[TOKEN_BYTES];
    ThreadLocalRandom.current().nextBytes(bytes);
    return owner + ":" + HexFormat.of().formatHex(bytes);
  }
}
