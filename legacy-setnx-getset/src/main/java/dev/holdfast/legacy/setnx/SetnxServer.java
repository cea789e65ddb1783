package dev.holdfast.legacy.setnx;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redis.TlsMismatch;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The one server. Each operation runs on a thread of ours with a connection of its own, never on
 * its caller's: the reply to a command that was sent late still says whether a lock was granted, so
 * a thread must wait for it when the caller no longer does.
 */
final class SetnxServer implements AutoCloseable {
  private static final Logger LOG = System.getLogger(SetnxLocks.class.getName());

  /** Threads, and with them connections: enough to keep one server busy. */
  private static final int MAX_THREADS = 8;

  /** Operations that wait for a thread: far more than a server in order lets come together. */
  private static final int MAX_WAITING = 10_000;

  private static final long IDLE_SECONDS = 10;

  /**
   * The idle time after which a connection is checked before its next use, because it may have
   * ended.
   */
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * The time that a reply may take, in quorum timeouts: twice as long as its caller waits, and at
   * least a second.
   */
  private static final int QUORUM_TIMEOUTS = 2;

  private static final Duration SHORTEST_PATIENCE = Duration.ofSeconds(1);

  private final Address address;
  private final Settings settings;
  private final Scheduler scheduler;
  private final ServerCheck examination;
  private final Duration patience;
  private final ThreadPoolExecutor threads;
  private final Deque<ServerConnection> idle = new ConcurrentLinkedDeque<>();
  private @Nullable CompletableFuture<Boolean> opened;
  private volatile boolean closed;

  /** Commands that run on one connection, one after the other. */
  @FunctionalInterface
  interface Operation<T> {
    /**
     * Sends the commands, and returns the result.
     *
     * @param connection for this call alone
     * @param late whether the caller no longer waits for the result
     */
    T ask(ServerConnection connection, BooleanSupplier late);

    /** Returns whether the operation starts even if the caller no longer waits for the result. */
    default boolean isBegunLate() {
      return false;
    }

    /** Returns an action that undoes a result that came too late, or empty if it can stay. */
    default Optional<Consumer<ServerConnection>> undo(T result) {
      return Optional.empty();
    }
  }

  SetnxServer(Address address, Settings settings, Scheduler scheduler) {
    this.address = address;
    this.settings = settings;
    this.scheduler = scheduler;
    this.examination = new ServerCheck(address.text(), settings.clock());
    Duration several = settings.quorumTimeout().multipliedBy(QUORUM_TIMEOUTS);
    this.patience = several.compareTo(SHORTEST_PATIENCE) > 0 ? several : SHORTEST_PATIENCE;
    AtomicInteger number = new AtomicInteger();
    this.threads =
        new ThreadPoolExecutor(
            MAX_THREADS,
            MAX_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> {
              Thread thread = new Thread(task, "holdfast-setnx-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  String address() {
    return address.text();
  }

  /** Connects, once. */
  synchronized CompletableFuture<Boolean> open() {
    if (opened == null) {
      CompletableFuture<Boolean> opening = new CompletableFuture<>();
      run(
          opening,
          settings.connectTimeout(),
          "not connected within "
              + settings.connectTimeout().toMillis()
              + " ms"
              + (address.isTls() ? TlsMismatch.hint(true) : ""),
          failure("not connected; start the server or check its address", false),
          new SerialTasks(),
          (connection, late) -> true);
      opened = opening;
    }
    return opened;
  }

  /** Runs an operation. The result comes within the quorum timeout. */
  <T> CompletableFuture<T> run(
      String message, boolean outcomeUnknown, SerialTasks line, Operation<T> operation) {
    Duration limit = settings.quorumTimeout();
    return run(limit, noAnswerWithin(limit), message, outcomeUnknown, line, operation);
  }

  static String noAnswerWithin(Duration limit) {
    return "no answer within " + limit.toMillis() + " ms";
  }

  /**
   * Runs an operation.
   *
   * @param limit the time within which the result comes
   * @param silence the failure of the server if it does not answer
   * @param message the message of an outage
   * @param outcomeUnknown whether the operation may have been done in spite of an outage
   * @param line the tasks that must not overtake one another
   */
  <T> CompletableFuture<T> run(
      Duration limit,
      String silence,
      String message,
      boolean outcomeUnknown,
      SerialTasks line,
      Operation<T> operation) {
    CompletableFuture<T> result = new CompletableFuture<>();
    run(result, limit, silence, failure(message, outcomeUnknown), line, operation);
    return result;
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdown();
    closeIdle();
  }

  /** Makes an exception for users of what went wrong. */
  @FunctionalInterface
  private interface Failure {
    LockException of(NodeException cause);
  }

  private Failure failure(String message, boolean outcomeUnknown) {
    return cause ->
        cause.isMisconfigured()
            ? new LockConfigurationException(
                message + ": " + address.text() + ": " + cause.getMessage(), cause)
            : new LockOutageException(message, Map.of(address.text(), cause), outcomeUnknown);
  }

  private <T> void run(
      CompletableFuture<T> result,
      Duration limit,
      String silence,
      Failure failure,
      SerialTasks line,
      Operation<T> operation) {
    Scheduler.Task end =
        scheduler.schedule(
            limit.toNanos(),
            () -> result.completeExceptionally(failure.of(NodeException.passing(silence))));
    result.whenComplete((value, failed) -> end.cancel());
    try {
      line.add(() -> serve(result, silence, failure, operation), threads);
    } catch (RejectedExecutionException e) {
      String why = closed ? "the manager is closed" : MAX_WAITING + " operations wait before it";
      result.completeExceptionally(failure.of(NodeException.passing(why)));
    }
  }

  private <T> void serve(
      CompletableFuture<T> result, String silence, Failure failure, Operation<T> operation) {
    if (result.isDone() && !operation.isBegunLate()) {
      return;
    }
    try {
      T value = lent(connection -> operation.ask(connection, result::isDone));
      if (!result.complete(value)) {
        operation.undo(value).ifPresent(this::runUndo);
      }
    } catch (LockException | Error known) {
      result.completeExceptionally(known);
    } catch (RuntimeException cause) {
      result.completeExceptionally(failure.of(NodeException.of(cause, silence)));
    }
  }

  private void runUndo(Consumer<ServerConnection> undo) {
    try {
      lent(
          connection -> {
            undo.accept(connection);
            return true;
          });
    } catch (RuntimeException | Error failure) {
      LOG.log(
          Level.WARNING,
          "a lock on "
              + address.text()
              + " was granted too late and could not be released: it blocks other clients until it"
              + " expires",
          failure);
    }
  }

  private <T> T lent(Function<ServerConnection, T> use) {
    ServerConnection connection = take();
    try {
      T result = use.apply(connection);
      putIdle(connection);
      return result;
    } catch (LockException | JedisDataException answered) {
      putIdle(connection);
      throw answered;
    } catch (RuntimeException | Error broken) {
      connection.close();
      closeIdle(); // usually they are broken for the same reason
      throw broken;
    }
  }

  private void putIdle(ServerConnection connection) {
    idle.push(connection);
    if (closed) {
      closeIdle();
    }
  }

  private ServerConnection take() {
    ServerConnection connection = idle.poll();
    if (connection == null) {
      return connected();
    }
    if (connection.idleNanos() < FRESH_NANOS) {
      return connection;
    }
    try {
      connection.ping();
      return connection;
    } catch (RuntimeException ended) {
      connection.close();
      closeIdle();
      return connected();
    }
  }

  private ServerConnection connected() {
    ServerConnection connection;
    try {
      connection = ServerConnection.connected(address, settings, patience);
    } catch (RuntimeException e) {
      throw NodeException.ofConnecting(e, address.isTls());
    }
    try {
      examination.of(connection);
      return connection;
    } catch (RuntimeException | Error unfit) {
      connection.close();
      throw unfit;
    }
  }

  private void closeIdle() {
    for (ServerConnection connection = idle.poll(); connection != null; connection = idle.poll()) {
      connection.close();
    }
  }
}
