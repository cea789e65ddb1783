package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The fixture of one test. Closes and mends at its end what was opened and begun in it. */
public final class TckFixture implements AutoCloseable {
  private static final System.Logger logger = System.getLogger(TckFixture.class.getName());
  private static final AtomicLong NAMES = new AtomicLong();
  private static final String NODE_TIMEOUT = "nodeTimeout";
  private static final String QUORUM_TIMEOUT = "quorumTimeout";
  private static final Set<String> NODE_OPTIONS =
      Set.of(NODE_TIMEOUT, QUORUM_TIMEOUT, "connectTimeout", "connect");

  /** When nothing has been asked for so long, nothing is under way. */
  private static final Duration QUIET = Duration.ofMillis(40);

  /** Longer than a node that was asked needs. */
  private static final Duration TAKEN_AGAIN_AFTER = Duration.ofSeconds(2);

  private final TckEnvironment environment;
  private final Set<LockCapability> capabilities;
  private final Map<String, String> defaults;
  private final Deque<Runnable> atEnd = new ArrayDeque<>();
  private boolean closed;

  public TckFixture(TckEnvironment environment, Set<LockCapability> capabilities) {
    this.environment = environment;
    this.capabilities = capabilities;
    defaults = new HashMap<>(Map.of("retryDelay", "20ms"));
    if (environment.hasNodeOptions()) {
      // patient, so that a busy machine is not taken for an outage
      defaults.put(NODE_TIMEOUT, "2s");
      defaults.put("connectTimeout", "10s");
    }
  }

  /**
   * Opens a manager, which is closed at the end.
   *
   * @param options for example {@code nodeTimeout=50ms}, which is the quorumTimeout, too, unless
   *     that is given; options about nodes are left out where they are not known
   */
  LockManager open(String... options) {
    return closedAtEnd(() -> environment.open(merged(options)));
  }

  /** Opens a manager as users do who give no options, which is closed at the end. */
  LockManager openWithoutOptions() {
    return closedAtEnd(() -> environment.open(Map.of()));
  }

  /** Opens a manager for locks of {@link #shortTtl} and {@link #briefTtl}: less patient. */
  LockManager openForShortTtl() {
    return open("nodeTimeout=" + shortTtl().dividedBy(5).toMillis() + "ms");
  }

  /** The same on other nodes, or by other ways; leaves the test out where that cannot be. */
  LockManager openOn(List<String> uris, String... options) {
    try {
      return closedAtEnd(() -> environment.openOn(uris, merged(options)));
    } catch (UnsupportedOperationException e) {
      return abort(e.getMessage());
    }
  }

  /** The same with settings in code. */
  LockManager openOn(List<String> uris, OpenSettings settings) {
    try {
      return closedAtEnd(() -> environment.openOn(uris, merged(), settings));
    } catch (UnsupportedOperationException e) {
      return abort(e.getMessage());
    }
  }

  /** Opens a manager as users do, by a URL. */
  LockManager openUrl(String... options) {
    String url = needsUrl();
    return closedAtEnd(() -> LockManager.open(url, merged(options)));
  }

  /** Returns a builder of such a manager; leaves the test out where there is no URL. */
  ManagerBuilder builder() {
    return LockManager.builder(needsUrl()).options(merged());
  }

  /** Opens a manager by a builder; leaves the test out if the backend refuses, as it may. */
  LockManager openUnlessRefused(ManagerBuilder builder) {
    try {
      return closedAtEnd(builder::open);
    } catch (LockConfigurationException e) {
      IgnoredFailures.add(e);
      return abort("this backend takes no such setting of a builder, and says so");
    }
  }

  /**
   * Returns the URL by which other processes find the same locks; leaves the test out where there
   * is none.
   */
  String needsUrl() {
    return environment.url().orElseGet(() -> abort("this environment's managers have no URL"));
  }

  public TckEnvironment environment() {
    return environment;
  }

  /** A name that no other test uses, and that ends like this. */
  String name(String end) {
    return "tck-" + Long.toString(NAMES.incrementAndGet(), Character.MAX_RADIX) + "-" + end;
  }

  boolean declares(LockCapability capability) {
    return capabilities.contains(capability);
  }

  Set<LockCapability> capabilities() {
    return capabilities;
  }

  /** Leaves the test out where this is not declared. */
  void needs(LockCapability... needed) {
    for (LockCapability capability : needed) {
      if (!declares(capability)) {
        abort("not declared: " + capability);
      }
    }
  }

  /** Leaves the test out where timeouts are as they are. */
  void needsNodeOptions() {
    if (!environment.hasNodeOptions()) {
      abort("this environment's managers have no options about nodes");
    }
  }

  /** Leaves the test out where each lock is two. */
  void needsOneLock() {
    if (environment.holdsTwoLocks()) {
      abort("each lock is two, which are removed one after the other");
    }
  }

  /** Leaves the test out where there are fewer nodes. */
  void needsNodes(int atLeast) {
    int there = nodes().size();
    if (there == 0) {
      abort("this environment shows no nodes");
    }
    if (there < atLeast) {
      abort("it takes " + atLeast + " nodes, and this environment shows fewer: " + there);
    }
  }

  /** Leaves the test out where the nodes do not know a fault. */
  void needs(TckFault... needed) {
    needsNodes(1);
    for (TckFault fault : needed) {
      if (!knows(fault)) {
        abort("this environment's nodes cannot be " + fault);
      }
    }
  }

  boolean knows(TckFault fault) {
    return nodes().stream().allMatch(node -> node.faults().contains(fault));
  }

  /** The wall clock; leaves the test out where it cannot be moved. */
  TckClock needsClock() {
    return environment.clock().orElseGet(() -> abort("this environment has no clock to move"));
  }

  /** A link before a node; leaves the test out where there is none. */
  TckLink needsLink(TckNode node) {
    TckLink link =
        node.link().orElseGet(() -> abort("this environment has no links that can be cut"));
    atEnd(link::close);
    return link;
  }

  /** Leaves the test out where nodes keep no lock for its ttl, or keep it for longer: ACQ-10's. */
  void needsExpiry() {
    Duration ttl = Duration.ofMillis(20);
    String name = name("expiring");
    long begun = System.nanoTime();
    nodes().forEach(node -> node.occupy(name, occupant(node), ttl));
    awaitRegardless("they expire", () -> isFreeOn(nodes(), name));
    if (!isFreeOn(nodes(), name)) {
      AnotherRule.isBroken("a lock without renewals does not expire");
    }
    if (!nodes().isEmpty() && System.nanoTime() - begun < ttl.toNanos()) {
      AnotherRule.isBroken("a lock expires before its time");
    }
  }

  /** Leaves the test out where requests are not counted. */
  void needsCounts() {
    needsNodes(1);
    if (nodes().stream().anyMatch(node -> node.requests().isEmpty())) {
      abort("this environment's nodes do not count requests");
    }
  }

  /** Returns the sum over all nodes. */
  long requests() {
    return nodes().stream().mapToLong(node -> node.requests().orElse(0)).sum();
  }

  /** Once no more come: those to a minority are under way when a call returns. */
  long requestsWhenAllAreAnswered() {
    AtomicLong last = new AtomicLong(-1);
    soon()
        .until(
            "no more requests come",
            () -> {
              LockSupport.parkNanos(QUIET.toNanos());
              long now = requests();
              return now == last.getAndSet(now);
            });
    return last.get();
  }

  /** Leaves the test out where connections are not counted. */
  void needsConnections() {
    needsNodes(1);
    if (nodes().stream().anyMatch(node -> node.connections().isEmpty())) {
      abort("this environment's nodes do not count connections");
    }
  }

  /** Returns the sum over all nodes. */
  int connections() {
    return nodes().stream().mapToInt(node -> node.connections().orElse(0)).sum();
  }

  List<TckNode> nodes() {
    return environment.nodes();
  }

  TckNode node(int index) {
    return nodes().get(index);
  }

  /** The nodes' own URIs, to be passed on with some replaced. */
  List<String> uris() {
    return new ArrayList<>(nodes().stream().map(TckNode::uri).toList());
  }

  List<String> addresses() {
    return nodes().stream().map(TckNode::address).toList();
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

  /** All nodes that are none of these. */
  List<TckNode> nodesBut(List<TckNode> some) {
    return nodes().stream().filter(node -> !some.contains(node)).toList();
  }

  /** Begins a fault, which is ended at the end. */
  void begin(TckFault fault, TckNode node, String name) {
    synchronized (atEnd) {
      atEnd(() -> node.end(fault, name));
      node.begin(fault, name);
    }
  }

  void begin(TckFault fault, List<TckNode> nodes, String name) {
    nodes.forEach(node -> begin(fault, node, name));
  }

  void end(TckFault fault, List<TckNode> nodes, String name) {
    nodes.forEach(node -> node.end(fault, name));
  }

  /** Does something while there is a fault. */
  void during(TckFault fault, List<TckNode> nodes, String name, Eventually.Assertions act)
      throws Exception {
    begin(fault, nodes, name);
    try {
      act.run();
    } finally {
      end(fault, nodes, name);
    }
  }

  /** Lets nodes lose a lock: with all else, as a restart does, where they know how. */
  void lose(List<TckNode> nodes, String name) {
    if (knows(TckFault.EMPTIED)) {
      begin(TckFault.EMPTIED, nodes, name);
    } else {
      nodes.forEach(node -> node.remove(name));
    }
  }

  /** Takes a lock on some nodes as another owner would. */
  void occupy(List<TckNode> nodes, String name) {
    nodes.forEach(node -> node.occupy(name, occupant(node), foreignTtl()));
  }

  /** Returns the owner that {@link #occupy} sets. */
  static String occupant(TckNode node) {
    return "another owner on " + node.address();
  }

  /**
   * Returns the ttl of others' locks: longer than ours, so that it shows when somebody gives them
   * ours.
   */
  Duration foreignTtl() {
    return ttl().multipliedBy(2);
  }

  boolean isUntouched(TckNode node, String name) {
    return node.holder(name).equals(Optional.of(occupant(node)))
        && node.timeToLive(name).compareTo(ttl()) > 0;
  }

  /** How many nodes are held by this token. */
  long holding(String name, String token) {
    return nodes().stream().filter(n -> n.holder(name).equals(Optional.of(token))).count();
  }

  boolean isFreeOn(List<TckNode> nodes, String name) {
    return nodes.stream().allMatch(node -> node.holder(name).isEmpty());
  }

  /** Waits until no node holds a lock. */
  void awaitFree(String name) {
    soon().until("nothing is left of " + name, () -> isFreeOn(nodes(), name));
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

  Duration allowance() {
    return timing().allowance();
  }

  Eventually soon() {
    return Eventually.within(timing().soon());
  }

  /** Returns the ttl of locks whose end is all that matters: shorter than {@link #shortTtl}. */
  Duration briefTtl() {
    return shortTtl().dividedBy(4);
  }

  /** For the usual ttl. */
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

  /**
   * Takes a lock on all nodes: where it is known who holds it, nothing comes late. A node whose
   * connection was being replaced is not asked again, so the lock is then taken again.
   */
  Lease takeOnAll(LockManager locks, LockRequest request) {
    AtomicReference<Lease> taken = new AtomicReference<>(take(locks, request));
    AtomicLong since = new AtomicLong(System.nanoTime());
    soon()
        .until(
            "all nodes hold it",
            () -> {
              Lease lease = Objects.requireNonNull(taken.get());
              if (holding(lease.name(), lease.token()) == nodes().size()) {
                return true;
              }
              if (System.nanoTime() - since.get() > TAKEN_AGAIN_AFTER.toNanos()) {
                Attempts.giveBack(this, lease);
                taken.set(take(locks, request));
                since.set(System.nanoTime());
              }
              return false;
            });
    return Objects.requireNonNull(taken.get());
  }

  Lease takeOnAll(LockManager locks, String name, Duration ttl) {
    return takeOnAll(locks, LockRequest.of(name, ttl));
  }

  /** Whether one attempt gets a lock. How it is told that it does not is another rule's. */
  boolean gets(LockManager locks, String name) throws InterruptedException {
    try {
      return locks.tryAcquire(name, ttl()).isPresent();
    } catch (LockException e) {
      return false;
    }
  }

  /** Waits for the end of a lease, whoever interrupts the thread meanwhile. */
  void awaitUninterrupted(Lease lease) {
    long limit = System.nanoTime() + timing().soon().toNanos();
    while (lease.isHeld() && System.nanoTime() - limit < 0) {
      Thread.interrupted();
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Waits for the end of a lease that nobody renews. */
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

  /** Leaves the test out if leases are not kept alive. Takes time: for what seems to fail. */
  void needsRenewals() {
    Duration ttl = shortTtl();
    LockRequest request = LockRequest.of(name("probe"), ttl).keepAliveUpTo(ttl.multipliedBy(100));
    Lease probe = take(openForShortTtl(), request);
    long begun = System.nanoTime();
    awaitRegardless("its ttl is over", () -> System.nanoTime() - begun > 5 * ttl.toNanos() / 4);
    if (!probe.isHeld()) {
      AnotherRule.isBroken("leases are not kept alive");
    }
    regardless(probe::release);
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
   * Has something done when the test is over, before what was asked for earlier.
   *
   * @throws IllegalStateException if it is over, because it has taken too long
   */
  void atEnd(Runnable task) {
    synchronized (atEnd) {
      if (closed) {
        throw new IllegalStateException("the test is over");
      }
      atEnd.push(task);
    }
  }

  /**
   * Ends the test; one that goes on anyway opens and begins nothing any more. A task that fails is
   * logged, because it says nothing of the test's own rule: other tests prove how managers close.
   */
  @Override
  public void close() {
    synchronized (atEnd) {
      if (closed) {
        return;
      }
      closed = true;
    }
    end(tasks());
  }

  /** Ends what the test has begun, so that the test can run again. */
  public void restart() {
    end(tasks());
  }

  private void end(List<Runnable> tasks) {
    for (Runnable task : tasks) {
      try {
        task.run();
      } catch (RuntimeException e) {
        logger.log(System.Logger.Level.WARNING, "a task of the test could not be ended", e);
      }
    }
    environment.reset();
  }

  private List<Runnable> tasks() {
    synchronized (atEnd) {
      List<Runnable> tasks = List.copyOf(atEnd);
      atEnd.clear();
      return tasks;
    }
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

  private Map<String, String> merged(String... options) {
    Map<String, String> merged = new HashMap<>(defaults);
    for (String option : options) {
      int equals = option.indexOf('=');
      merged.put(option.substring(0, equals), option.substring(equals + 1));
    }
    merged.putIfAbsent(QUORUM_TIMEOUT, Objects.toString(merged.get(NODE_TIMEOUT)));
    if (!environment.hasNodeOptions()) {
      merged.keySet().removeAll(NODE_OPTIONS);
    }
    return merged;
  }
}
