package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A source of locks. Open one manager for the life of the application and share it. Safe for use by
 * many threads, also virtual threads.
 *
 * <pre>{@code
 * LockManager locks = LockManager.open("redlock:redis://h1,redis://h2,redis://h3");
 *
 * try (Lease lease = locks.acquire("order-4711", Duration.ofSeconds(30))) {
 *   Order order = load();
 *   lease.requireHeld(); // right before every effect that others can see
 *   store(order.shipped());
 * }
 * }</pre>
 */
public interface LockManager extends AutoCloseable {
  /**
   * Opens a manager with the backend that the URL means, found on the class path or module path.
   * Connects, unless the URL says {@code connect=lazy}.
   *
   * @param url for example {@code redlock:redis://h1:6379,redis://h2:6379,redis://h3:6379}
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if the URL is wrong, or no backend, or more than one, is
   *     found for it
   * @throws LockOutageException if no quorum of nodes can be reached in time
   */
  static LockManager open(String url) {
    return builder(url).open();
  }

  /**
   * Opens a manager as {@link #open(String)} does, with more options.
   *
   * @param url the URL
   * @param options override those of the URL
   * @return a new manager
   */
  static LockManager open(String url, Map<String, String> options) {
    return builder(url).options(options).open();
  }

  /**
   * Opens a manager as {@link #open(String, Map)} does, with the given backends.
   *
   * @param url the URL
   * @param options override those of the URL
   * @param providers the backends to choose from
   * @return a new manager
   */
  static LockManager open(
      String url, Map<String, String> options, Iterable<? extends LockProvider> providers) {
    return builder(url).options(options).providers(providers).open();
  }

  /**
   * Starts to open a manager with settings that a URL cannot hold, such as listeners.
   *
   * @param url as for {@link #open(String)}
   * @return a new builder
   */
  static ManagerBuilder builder(String url) {
    return new ManagerBuilder(url);
  }

  /**
   * Acquires the lock if it becomes free within the wait of the request. If the request has no
   * wait, makes one attempt, or none while other requests of this manager wait for the lock.
   *
   * @param request the request
   * @return the lease, or empty if another owner holds the lock or other waiters come first
   * @throws InterruptedException if the thread is interrupted, and no lock is left behind
   * @throws LockOutageException if no quorum of nodes answered
   * @throws LockConfigurationException if the request is out of the manager's range, or needs a
   *     capability that is not there
   * @throws IllegalStateException if the manager is closed
   */
  Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException;

  /**
   * Acquires the lock. If the request has no wait, waits until the lock is acquired or the thread
   * is interrupted, like {@link java.util.concurrent.Semaphore#acquire()}. Waits while another
   * owner holds the lock, and while no quorum of nodes answers.
   *
   * @param request the request
   * @return the lease
   * @throws InterruptedException if the thread is interrupted, and no lock is left behind
   * @throws LockContendedException if another owner holds the lock, and the wait is over
   * @throws LockOutageException if no quorum of nodes answered until the wait was over
   * @throws LockConfigurationException if the request is out of the manager's range, or needs a
   *     capability that is not there
   * @throws IllegalStateException if the manager is closed
   */
  Lease acquire(LockRequest request) throws InterruptedException;

  /**
   * Makes one attempt at most: {@code tryAcquire(LockRequest.of(name, ttl))}.
   *
   * @param name the name of the lock
   * @param ttl how long the lock may outlive a holder that dies
   * @return the lease, or empty as {@link #tryAcquire(LockRequest)} returns it
   * @throws InterruptedException if the thread is interrupted, and no lock is left behind
   */
  default Optional<Lease> tryAcquire(String name, Duration ttl) throws InterruptedException {
    return tryAcquire(LockRequest.of(name, ttl));
  }

  /**
   * Waits until the lock is acquired: {@code acquire(LockRequest.of(name, ttl))}.
   *
   * @param name the name of the lock
   * @param ttl how long the lock may outlive a holder that dies
   * @return the lease
   * @throws InterruptedException if the thread is interrupted, and no lock is left behind
   */
  default Lease acquire(String name, Duration ttl) throws InterruptedException {
    return acquire(LockRequest.of(name, ttl));
  }

  /**
   * Acquires as {@link #tryAcquire(LockRequest)} does, without blocking a thread. Cancelling the
   * future ends the request. If the future was cancelled or completed by other code, the lock is
   * released.
   *
   * @param request the request
   * @return completes on the manager's callback executor, and fails as tryAcquire does
   */
  CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request);

  /**
   * Goes on with a lock that another lease transferred, in any process. Makes one attempt: each
   * node replaces the token of the transferred lease by a new one, in one atomic step, and a quorum
   * must do so. The new lease has a token and a larger fencing token of its own. A wait in the
   * request is not used.
   *
   * <p>The first adoption that replaces the token on a node uses the text up. Every adoption that
   * fails after it asked a node ends the transfer: the lock becomes free. So at most one of several
   * deliveries of one text gets the lock. After a failure acquire the lock as usual, if the work
   * may start again.
   *
   * @param text the text that {@link Lease#transfer} returned, unchanged
   * @param request the request, with the name of the transferred lock
   * @return the lease, with the ttl and the other limits of the request from now on
   * @throws LockLostException if a quorum of nodes does not hold the transferred token any more.
   *     The reason is {@link LossReason#TAKEN} if another token was seen, such as that of another
   *     adoption, and {@link LossReason#REMOVED} or {@link LossReason#EXPIRED} if the transfer
   *     expired, or was adopted and released
   * @throws LockOutageException if no quorum of nodes answered, or after a wait far above the
   *     backend's own limit: if the adoption succeeds after that, the lock is released
   * @throws LockConfigurationException if the text is damaged, or is of another lock or of other
   *     nodes, or as {@link #tryAcquire(LockRequest)} throws it. A refusal before any input or
   *     output does not use the text up
   * @throws IllegalStateException if the manager is closed
   */
  default Lease adopt(String text, LockRequest request) {
    throw Decorated.withoutTransfer(this, "adopt");
  }

  /**
   * Adopts as {@link #adopt} does, without blocking a thread. If the future was cancelled or
   * completed by other code, the lock is released: listeners see a grant and its release.
   *
   * @param text as for {@link #adopt}
   * @param request as for {@link #adopt}
   * @return completes on the manager's callback executor, and fails as {@link #adopt} does
   */
  default CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    return CompletableFuture.failedFuture(Decorated.withoutTransfer(this, "adoptAsync"));
  }

  /**
   * Acquires the lock, calls the task, and releases the lock. When the lease is lost, the task's
   * thread is interrupted. Once the task has ended, {@link LockLostException} is thrown, whatever
   * the task returned. During the call the lease is {@link Locks#current()} on the task's thread.
   *
   * @param <T> the type of the result
   * @param <X> the type of exception that the task throws
   * @param request the request, as by {@link #acquire(LockRequest)}
   * @param task the work
   * @return the result of the task
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the task throws it
   * @throws LockLostException if the lease was lost before the task had ended. An exception of the
   *     task is the cause
   */
  default <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
      throws InterruptedException, X {
    return LockedCall.releasing(this, acquire(request), task);
  }

  /**
   * Does some work without a result while holding the lock, as {@link #executeLocked} does.
   *
   * @param <X> the type of exception that the work throws
   * @param request the request, as by {@link #acquire(LockRequest)}
   * @param action the work
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the work throws it
   * @throws LockLostException as {@link #executeLocked} throws it
   */
  default <X extends Exception> void runLocked(LockRequest request, LockedAction<X> action)
      throws InterruptedException, X {
    executeLocked(request, LockedCall.task(action));
  }

  /**
   * Does some work while holding the lock, as {@link #executeLocked} does, unless another owner
   * holds the lock. Makes one attempt at most if the request has no wait.
   *
   * @param <T> the type of the result
   * @param <X> the type of exception that the task throws
   * @param request the request, as by {@link #tryAcquire(LockRequest)}
   * @param task the work, which must not return null
   * @return the result of the task, or empty if another owner holds the lock, and the task did not
   *     run
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the task throws it
   * @throws LockLostException as {@link #executeLocked} throws it
   * @throws NullPointerException if the task returned null: {@link #tryRunLocked} takes tasks
   *     without a result
   */
  default <T, X extends Exception> Optional<T> tryExecuteLocked(
      LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
    Optional<Lease> lease = tryAcquire(request);
    if (lease.isEmpty()) {
      return Optional.empty();
    }
    T result = LockedCall.releasing(this, lease.get(), task);
    return Optional.of(
        Objects.requireNonNull(
            result,
            () ->
                "the task under the lock '"
                    + request.name()
                    + "' returned null, and an empty result means that another owner holds the"
                    + " lock: call tryRunLocked for a task without a result"));
  }

  /**
   * Does some work without a result while holding the lock, as {@link #tryExecuteLocked} does.
   *
   * @param <X> the type of exception that the work throws
   * @param request the request, as by {@link #tryAcquire(LockRequest)}
   * @param action the work
   * @return false if another owner holds the lock, and the work was not done
   * @throws InterruptedException if the thread is interrupted
   * @throws X if the work throws it
   * @throws LockLostException as {@link #executeLocked} throws it
   */
  default <X extends Exception> boolean tryRunLocked(LockRequest request, LockedAction<X> action)
      throws InterruptedException, X {
    return tryExecuteLocked(request, LockedCall.task(action)).isPresent();
  }

  /**
   * Returns the holder of a lock. For operators: the answer can be out of date before it is read.
   *
   * @param name the name of the lock
   * @return empty if the lock is free
   * @throws LockOutageException if no quorum of nodes answered in time
   * @throws LockConfigurationException if the name is out of range, or {@link
   *     LockCapability#INSPECTION} is not declared
   * @throws IllegalStateException if the manager is closed
   */
  Optional<LockStatus> inspect(String name);

  /**
   * Removes a lock, whichever owner holds it. For operators: the holder notices it at its next
   * renewal or extension, with {@link LossReason#REMOVED}. Without renewals and extensions, the
   * holder notices it at the release.
   *
   * @param name the name of the lock
   * @return true if a lock was removed
   * @throws LockOutageException if no quorum of nodes answered in time
   * @throws LockConfigurationException if the name is out of range, or {@link
   *     LockCapability#FORCE_RELEASE} is not declared
   * @throws IllegalStateException if the manager is closed
   */
  boolean forceRelease(String name);

  /** Returns the promises that this manager can keep, in an unmodifiable set. */
  Set<LockCapability> capabilities();

  /**
   * Returns the name of the backend, for metrics and messages.
   *
   * @return the scheme of its URLs, such as {@code redlock}, or {@code unknown} if it gives no name
   */
  default String backend() {
    return Decorated.find(this).map(LockManager::backend).orElse("unknown");
  }

  /**
   * Adds a listener to the requests that begin from now on, to their leases, and to the nodes.
   *
   * @param listener called inline, by the rules of {@link LockListener}
   * @return removes the listener when it is closed
   * @throws LockConfigurationException if this manager is a decorator that hides the manager below
   */
  default LockListener.Registration addListener(LockListener listener) {
    return Decorated.below(this, "addListener").addListener(listener);
  }

  /**
   * Shows the nodes as this manager knows them, and asks none. A backend without nodes shows one.
   *
   * @return an unmodifiable list, in the order of the URL
   * @throws LockConfigurationException if this manager is a decorator that hides the manager below
   */
  default List<LockNode> nodes() {
    return Decorated.below(this, "nodes").nodes();
  }

  /**
   * Shows the locks that this manager holds now, without asking the nodes.
   *
   * @return an unmodifiable list, in any order
   * @throws LockConfigurationException if this manager is a decorator that hides the manager below
   */
  default List<HeldLock> leases() {
    return Decorated.below(this, "leases").leases();
  }

  /**
   * Checks a request without asking the nodes, so that a wrong ttl can fail the start. A decorator
   * that hides the manager below checks nothing, unless it overrides this.
   *
   * @param request the request
   * @throws LockConfigurationException if this manager cannot serve the request
   */
  default void check(LockRequest request) {
    Decorated.find(this).ifPresent(below -> below.check(request));
  }

  /**
   * Asks the nodes whether a lock could be acquired now: whether a quorum of nodes answers and may
   * vote. Changes no lock. Connects first if the manager has not connected yet.
   *
   * @param timeout how long to wait for the answers, above zero
   * @return false if no quorum answered in time
   * @throws LockConfigurationException if the timeout is zero or less, if a person has to correct a
   *     node or the URL, or if the backend can neither be asked for its nodes nor declares {@link
   *     LockCapability#INSPECTION}
   * @throws IllegalStateException if the manager is closed
   */
  default boolean ping(Duration timeout) {
    return Decorated.below(this, "ping").ping(timeout);
  }

  /**
   * Returns an object below this manager, as in JDBC: for example the driver's client, or a test
   * handle. A decorator passes the call on, so that {@code LockManager.class} gives the manager
   * below all decorators.
   *
   * @param <T> the type
   * @param type the type of the object
   * @return empty if there is no such object
   */
  <T> Optional<T> unwrap(Class<T> type);

  /**
   * Closes the manager without a grace. No lock is granted any more. Open leases end for their
   * holders with {@link LossReason#CLOSED} and are no longer renewed. Their keys are left to
   * expire, because a holder may still be at work: closing never lets a second owner in. Waits for
   * operations in flight, for some seconds at most, also if the thread is interrupted. May be
   * called again.
   */
  @Override
  void close();

  /**
   * Closes the manager to new requests at once, gives the holders of open leases time to release
   * them, and then closes as {@link #close()} does. The grace ends when the last open lease is
   * released or lost. It ends early if this thread is interrupted (its interrupt flag is kept) or
   * another thread calls {@link #close()}. Leases are kept alive during the grace.
   *
   * @param grace how long to wait for holders at most, where less than zero means zero
   */
  void close(Duration grace);
}
