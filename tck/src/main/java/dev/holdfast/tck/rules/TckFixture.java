package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** The fixture of one test. At its end it closes and ends what the test has opened and begun. */
public final class TckFixture implements AutoCloseable {
  private static final AtomicLong NAMES = new AtomicLong();

  /** The option of tests in which no outage is meant: answers of a busy machine are late. */
  static final String NO_OUTAGE = "quorumTimeout=10s";

  private static final int TRIES_TO_CONNECT = 3;

  private final TckEnvironment environment;
  private final Set<LockCapability> capabilities;
  private final TestOptions options;
  private final AtEnd end;

  public TckFixture(TckEnvironment environment, Set<LockCapability> capabilities) {
    this.environment = environment;
    this.capabilities = capabilities;
    options = new TestOptions(environment.hasNodeOptions());
    end = new AtEnd(environment::reset);
  }

  /**
   * Opens a manager, which is closed at the end.
   *
   * @param own for example {@code nodeTimeout=50ms}, which is also the quorumTimeout unless that is
   *     given. Options about nodes are left out if managers do not know them.
   */
  LockManager open(String... own) {
    return closedAtEnd(() -> environment.open(options(own)));
  }

  /**
   * Opens a manager as users do who give no options, which is closed at the end. Tries again on a
   * machine so busy that the nodes cannot be connected within the default time.
   */
  LockManager openWithoutOptions() {
    for (int i = 1; i < TRIES_TO_CONNECT; i++) {
      try {
        return closedAtEnd(() -> environment.open(Map.of()));
      } catch (LockOutageException e) {
        IgnoredFailures.add(e);
      }
    }
    return closedAtEnd(() -> environment.open(Map.of()));
  }

  /** Opens a manager for locks of {@link #shortTtl} and {@link #briefTtl}: less patient. */
  LockManager openForShortTtl() {
    return open(
        "nodeTimeout=" + shortTtl().dividedBy(5).toMillis() + "ms",
        "quorumTimeout=2s"); // an attempt or an extension ends with its ttl
  }

  /** Opens a manager on these nodes. Leaves the test out if that is not supported. */
  LockManager openOn(List<String> uris, String... own) {
    return openIfPossible(() -> environment.openOn(uris, options(own)));
  }

  /** Opens a manager on these nodes, with settings in code. */
  LockManager openOn(List<String> uris, OpenSettings settings, String... own) {
    return openIfPossible(() -> environment.openOn(uris, options(own), settings));
  }

  private LockManager openIfPossible(Supplier<LockManager> opener) {
    try {
      return closedAtEnd(opener);
    } catch (UnsupportedOperationException e) {
      return abort(e.getMessage());
    }
  }

  public TckEnvironment environment() {
    return environment;
  }

  /** Returns a name that no other test uses, with this end. */
  String name(String end) {
    return "tck-" + Long.toString(NAMES.incrementAndGet(), Character.MAX_RADIX) + "-" + end;
  }

  boolean declares(LockCapability capability) {
    return capabilities.contains(capability);
  }

  Set<LockCapability> capabilities() {
    return capabilities;
  }

  List<TckNode> nodes() {
    return environment.nodes();
  }

  TckNode node(int index) {
    return nodes().get(index);
  }

  /** Returns the nodes' own URIs in a list that the caller may change. */
  List<String> uris() {
    return new ArrayList<>(nodes().stream().map(TckNode::uri).toList());
  }

  int quorum() {
    return quorumOf(Math.max(1, nodes().size()));
  }

  static int quorumOf(int nodes) {
    return nodes / 2 + 1;
  }

  /** Returns as many nodes as may be missing. */
  List<TckNode> minority() {
    return nodes().subList(0, nodes().size() - quorum());
  }

  /** Returns the fewest nodes without which there is no quorum. */
  List<TckNode> blocking() {
    return nodes().subList(0, nodes().size() - quorum() + 1);
  }

  /** Returns as few nodes as can grant a lock without the others. */
  List<TckNode> granting() {
    return nodes().subList(0, quorum());
  }

  /** Returns all nodes except these. */
  List<TckNode> nodesBut(List<TckNode> some) {
    return nodes().stream().filter(node -> !some.contains(node)).toList();
  }

  TckTiming timing() {
    return environment.timing();
  }

  Duration ttl() {
    return timing().ttl();
  }

  Duration shortTtl() {
    return timing().shortTtl();
  }

  /**
   * Returns a ttl that is longer than the usual one: for others' locks, so that a mix-up of both
   * shows, and for locks that are held through many calls.
   */
  Duration foreignTtl() {
    return ttl().multipliedBy(2);
  }

  Duration allowance() {
    return timing().allowance();
  }

  Eventually soon() {
    return Eventually.within(timing().soon());
  }

  /** Waits until more than a time has passed since {@link System#nanoTime} was this. */
  void awaitPast(long since, Duration time) {
    soon().until("time passes", () -> Elapsed.since(since).compareTo(time) > 0);
  }

  /** Returns the sets of options that are tried: none, and those of the environment. */
  List<Map<String, String>> optionSets() {
    List<Map<String, String>> sets = new ArrayList<>(List.of(Map.of()));
    sets.addAll(environment.optionSets());
    return sets;
  }

  /** Returns the ttl of locks whose end is all that matters: shorter than {@link #shortTtl}. */
  Duration briefTtl() {
    return shortTtl().dividedBy(4);
  }

  /** Returns a request with the usual ttl. */
  LockRequest request(String name) {
    return LockRequest.of(name, ttl());
  }

  /** Takes a free lock: in one attempt, or in several on a machine that stalls. */
  Lease take(LockManager locks, LockRequest request) {
    List<Lease> taken = new ArrayList<>();
    soon()
        .until(
            request.name() + " is granted",
            () -> {
              try {
                locks.tryAcquire(request).ifPresent(taken::add);
              } catch (LockOutageException e) {
                IgnoredFailures.add(e);
              }
              return !taken.isEmpty();
            });
    return taken.get(0);
  }

  Lease take(LockManager locks, String name, Duration ttl) {
    return take(locks, LockRequest.of(name, ttl));
  }

  /** Returns whether one attempt gets a lock. Other rules cover how a failure is reported. */
  boolean gets(LockManager locks, String name) throws InterruptedException {
    try {
      return locks.tryAcquire(name, ttl()).isPresent();
    } catch (LockException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  /** Waits for the end of a lease that is not renewed. */
  void awaitOver(Lease lease) {
    soon().until(lease.name() + " is over for its holder", () -> !lease.isHeld());
  }

  /**
   * Waits for what should be so soon, and goes on if it never is, because that is another rule's.
   */
  void awaitRegardless(String what, Callable<Boolean> condition) {
    try {
      soon().until(what, condition);
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
    }
  }

  /** Returns whether a test has time for more: on a busy machine it shows less. */
  boolean isEarly(long begun) {
    return Elapsed.since(begun).compareTo(timing().limit().dividedBy(4)) < 0;
  }

  /** Leaves the test out if calls are too slow to try all, which is another rule's. */
  void needsTime(long begun, String what) {
    if (!isEarly(begun)) {
      abort("calls are too slow, which is another rule's, to try all " + what);
    }
  }

  /** Does something whatever comes of it, because that is another rule's. */
  static void regardless(Eventually.Assertions act) {
    try {
      act.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      IgnoredFailures.add(e);
    }
  }

  /**
   * Runs a task when the test is over, before the tasks that were added earlier.
   *
   * @throws IllegalStateException if the test is over, because it has taken too long
   */
  void atEnd(Runnable task) {
    end.add(task);
  }

  /**
   * Begins something that a task ends when the test is over.
   *
   * @throws IllegalStateException if it is over
   */
  void begin(Runnable begin, Runnable task) {
    end.begin(begin, task);
  }

  /** Ends the test. A test that goes on anyway can open and begin nothing. */
  @Override
  public void close() {
    end.close();
  }

  /** Ends what the test has begun, so that the test can run again. */
  public void restart() {
    end.run();
  }

  /** Returns the options of a test's managers, of which these are its own. */
  Map<String, String> options(String... own) {
    return options.with(own);
  }

  /** Opens a manager, which is closed at the end. */
  LockManager closedAtEnd(Supplier<LockManager> opener) {
    LockManager manager = opener.get();
    try {
      atEnd(manager::close);
    } catch (IllegalStateException over) {
      manager.close();
      throw over;
    }
    return manager;
  }
}
