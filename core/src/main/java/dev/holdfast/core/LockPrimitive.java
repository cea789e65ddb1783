package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockNode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The port that a backend implements: single operations without waiting, state or retries.
 * Everything else is the core's.
 *
 * <p>Each operation returns a stage that completes within a bound of the backend's own, on any
 * thread. Actions that depend on it are short. A stage completes exceptionally with {@link
 * dev.holdfast.LockOutageException} for an outage (tried again while the caller waits), and with
 * {@link dev.holdfast.LockConfigurationException} for a fault that a person must correct (never
 * tried again). Methods do not throw, and only {@link #lendThread} and {@link #close} block. Safe
 * for use by many threads.
 */
public interface LockPrimitive extends AutoCloseable {
  /**
   * Returns the promises that this backend can keep. The core adds what it brings itself: {@link
   * LockCapability#FIFO_IN_PROCESS}, and {@link LockCapability#KEEP_ALIVE} to {@link
   * LockCapability#EXTENSION}.
   *
   * @return the same set every time
   */
  Set<LockCapability> capabilities();

  /**
   * Returns the name of this backend, for metrics.
   *
   * @return the scheme of its URLs, such as {@code redlock}
   */
  default String backend() {
    return "unknown";
  }

  /**
   * Refuses a name that this backend cannot use, such as one that it keeps for itself. Called
   * before any input or output, for requests, inspections and forced releases.
   *
   * @param name 1 byte to 1 KiB in UTF-8
   * @throws dev.holdfast.LockConfigurationException saying what would do
   */
  default void requireName(String name) {}

  /**
   * Refuses what this backend cannot serve, such as a ttl that would leave no validity. Called
   * after {@link #requireName}, and before any input or output.
   *
   * @param name the name of the lock
   * @param ttl above zero and up to {@code maxTtl}
   * @throws dev.holdfast.LockConfigurationException saying what is right
   */
  void requireUsable(String name, Duration ttl);

  /**
   * Returns how long an operation takes at most, connecting included: the bound that this backend's
   * options set. A call that has no result long after it is an outage.
   *
   * @return above zero
   */
  default Duration longestOperation() {
    return Duration.ofSeconds(10);
  }

  /**
   * Starts an operation on a thread that waits for the result and does nothing else. A backend may
   * hold back what the operation sends, and use the thread for input and output until the result is
   * there, for a bounded time. By default starts the operation.
   *
   * @param <T> the type of the result
   * @param operation calls other methods, and holds no lock
   * @return the result of the operation, perhaps completed by this thread
   */
  default <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return operation.get();
  }

  /**
   * Tries once to get a lock. When it is not granted, nothing of the attempt is left on any part of
   * the backend that answers.
   *
   * @param attempt what to try
   * @return the grant or the refusal
   */
  CompletableFuture<Outcome> attempt(Attempt attempt);

  /**
   * Extends a lock that was granted, if it still is. Never called at the same time as another
   * extension of the same grant, nor after its release.
   *
   * @param grant the result of {@link #attempt}
   * @param ttl at least as long from now
   * @return extended, or lost
   */
  CompletableFuture<Extension> extend(Grant grant, Duration ttl);

  /**
   * Extends a lock for the last time, before it is transferred. As {@link #extend}, but it puts no
   * key back that is missing: if it comes late, the text may be used up, and the key would serve a
   * second adoption.
   *
   * @param grant the result of {@link #attempt} or {@link #adopt}
   * @param within at least as long from now
   * @return extended, or lost
   */
  default CompletableFuture<Extension> extendForTransfer(Grant grant, Duration within) {
    return extend(grant, within);
  }

  /**
   * Releases a lock: compares and deletes. May be called while an extension of the same grant is in
   * flight, and does not wait for its answer: it takes effect after the extension, which must leave
   * no key behind then. The result of that extension is ignored.
   *
   * @param release the grant to release
   * @return whether it was held until now, and how many others wait
   */
  CompletableFuture<Released> release(Release release);

  /**
   * Goes on with a lock that was transferred: replaces its token by a new one where, and only
   * where, the lock still holds it, compared and replaced as one step. Makes one try, and validity
   * counts from before the first message. An adoption that is not granted leaves neither its own
   * token nor the transferred one on any part of the backend that answers, except where another
   * owner's token was seen. Called only if {@link LockCapability#TRANSFER} is declared.
   *
   * @param adoption what to adopt
   * @return the grant, with a new token and a larger fencing token, or {@link Lost}, with {@link
   *     LossReason#TAKEN} if another token was seen
   */
  default CompletableFuture<Outcome> adopt(Adoption adoption) {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException("this backend declares no TRANSFER"));
  }

  /**
   * Returns what two managers must have in common for the one to adopt what the other transfers, in
   * words for people: the kind of backend, and what its keys depend on. No secrets.
   *
   * @return the same text every time, for example {@code memory, keyPrefix ''}
   */
  default String transferScope() {
    return "";
  }

  /**
   * Notifies waiters of releases by other owners, so that they can poll less often. A notification
   * is only a hint: it may come late, twice or never, and the lock may be held again by then.
   *
   * @param name the name of the lock
   * @param released to be run on any thread, and short
   * @return a subscription, to be closed once no waiter for the lock is left
   */
  default Watch watch(String name, Runnable released) {
    return Watch.NONE;
  }

  /**
   * Looks who holds a lock.
   *
   * @param name the name of the lock
   * @return empty if the lock is free
   */
  CompletableFuture<Optional<LockStatus>> inspect(String name);

  /**
   * Removes a lock, whichever owner holds it.
   *
   * @param name the name of the lock
   * @return true if there was something to remove
   */
  CompletableFuture<Boolean> forceRelease(String name);

  /**
   * Adds a receiver of votes and of changes of nodes. Called once for each manager over this
   * backend, before its first operation. A backend that shows no {@link #nodes} may ignore it. One
   * that is connected already reports each node once.
   *
   * @param observer takes each vote on an attempt or an extension, and each change of a node
   */
  default void observe(NodeObserver observer) {}

  /**
   * Shows the nodes as this backend knows them, without asking them.
   *
   * @return the same addresses in the same order every time, or none if the backend has no nodes
   *     that it could show. The core then shows one, whose state is that of the last answer
   */
  default List<LockNode> nodes() {
    return List.of();
  }

  /**
   * Returns the address of the only node of a backend that shows no {@link #nodes}.
   *
   * @return for example {@code host:port}, for messages
   */
  default String address() {
    return "backend";
  }

  /**
   * Asks whether a quorum of nodes answers and may vote. Changes no lock. By default inspects a
   * lock, which needs {@link LockCapability#INSPECTION}.
   *
   * @param name a name that no lock has
   * @return whether it does. Completes within the bound of the backend, normally for an outage
   */
  default CompletableFuture<Boolean> ping(String name) {
    return PingByInspection.ping(this, name);
  }

  /**
   * Returns the objects of the backend. See {@link dev.holdfast.LockManager#unwrap}.
   *
   * @param <T> the type
   * @param type the type that is looked for
   * @return empty if there is no such thing
   */
  default <T> Optional<T> unwrap(Class<T> type) {
    return Optional.empty();
  }

  /** Frees what the backend itself opened. Called once, when no operation is in flight. */
  @Override
  void close();

  /**
   * One attempt.
   *
   * @param name the name of the lock
   * @param ownerLabel the holder's label, for people
   * @param ttl how long the lock may outlive its holder
   * @param progress where the backend may say how the attempt stands
   */
  record Attempt(String name, String ownerLabel, Duration ttl, AttemptProgress progress) {}

  /**
   * One adoption of a transferred lock.
   *
   * @param attempt the name, the new holder's label and the ttl
   * @param transferredToken the token that the lock holds if it still is the transferred one. It is
   *     a secret, which {@code toString} does not show
   */
  record Adoption(Attempt attempt, String transferredToken) {
    @Override
    public String toString() {
      return "Adoption[" + attempt + "]";
    }
  }

  /**
   * One release.
   *
   * @param grant the result of {@link #attempt}
   * @param keep zero to delete, else how long the lock is still kept from other owners
   * @param mayLengthen whether {@code keep} may be longer than the lock would live. If not, it only
   *     shortens that life. False once the lease's validity is over, as the lock may be another
   *     owner's by then
   * @param isHandoff whether an attempt of this manager follows at once, so that other managers
   *     need no notification: their attempts would be refused
   */
  record Release(Grant grant, Duration keep, boolean mayLengthen, boolean isHandoff) {
    /**
     * Returns a release that deletes the lock at once and notifies other managers.
     *
     * @param grant the result of {@link #attempt}
     * @return the release
     */
    public static Release deletionOf(Grant grant) {
      return new Release(grant, Duration.ZERO, false, false);
    }
  }

  /**
   * The outcome of a release.
   *
   * @param loss empty if the lock was held until now, else why it was not
   * @param others how many other managers wait, if known: 0 only if it is known that none does
   */
  record Released(Optional<LossReason> loss, int others) {
    /** The value of a backend that does not know how many managers wait. */
    public static final int UNKNOWN = 1;
  }

  /** A subscription to the releases of one name. */
  interface Watch extends AutoCloseable {
    /** The subscription of backends that do not notify of releases. */
    Watch NONE = () -> {};

    /** Ends the notifications. Never throws. */
    @Override
    void close();
  }

  /** The outcome of an attempt, a grant or a refusal, or of an adoption, a grant or a loss. */
  sealed interface Outcome permits Grant, Refusal, Lost {}

  /** A granted lock. Implemented by the backend, which receives it again with each operation. */
  non-sealed interface Grant extends Outcome {
    /**
     * Returns the name of the lock.
     *
     * @return the name
     */
    String name();

    /**
     * Returns the proof of this grant.
     *
     * @return new for every attempt
     */
    String token();

    /**
     * Returns a number larger than that of every grant of this name before.
     *
     * @return empty without {@link LockCapability#FENCING_TOKEN}
     */
    OptionalLong fencingToken();

    /**
     * Returns the end of validity if nothing extends it.
     *
     * @return a reading of the manager's clock
     */
    ClockReading validUntil();

    /**
     * Returns how many nodes granted the lock, for listeners.
     *
     * @return at least a quorum
     */
    default int votes() {
      return 1;
    }

    /**
     * Returns how many more nodes can fail before an attempt has no quorum, as known when the grant
     * was decided, for listeners.
     *
     * @return the nodes that granted the lock or had not voted yet, less the quorum
     */
    default int margin() {
      return 0;
    }
  }

  /**
   * Another owner holds the lock.
   *
   * @param votes the nodes' votes on the attempt, without those of nodes that were not waited for
   */
  record Refusal(LockVotes votes) implements Outcome {}

  /** The outcome of an extension. */
  sealed interface Extension permits Extended, Lost {}

  /**
   * The lock is held for longer.
   *
   * @param validUntil the new end of validity, if it is later than the old one
   */
  record Extended(ClockReading validUntil) implements Extension {}

  /**
   * The lock is not held any more.
   *
   * @param reason {@link LossReason#TAKEN}, {@link LossReason#REMOVED} or {@link
   *     LossReason#EXPIRED}
   */
  record Lost(LossReason reason) implements Extension, Outcome {}
}
