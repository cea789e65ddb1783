package dev.holdfast.spring.test;

import dev.holdfast.LockManager;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/**
 * A handle of a test on the locks of its application. It steals and expires locks, moves their
 * clock, and cuts the application off from its nodes.
 *
 * <pre>
 * &#64;LockTest
 * class ShopTest {
 *   &#64;Test
 *   void anOrderThatIsShippedElsewhereIsRefused(
 *       &#64;Autowired Shop shop, &#64;Autowired LockTestHandle locks) {
 *     locks.steal("order-4711");
 *     assertThrows(LockContendedException.class, () -&gt; shop.ship(4711));
 *   }
 * }
 * </pre>
 *
 * <p>As with a real server, a holder does not know at once that its lock was stolen or has expired:
 * it learns so at its next renewal or extension, at the end of its ttl by the clock, or at its
 * release. After each test stolen locks are released, and an outage ends. Safe for use by many
 * threads.
 */
public final class LockTestHandle {
  private static final Duration UNTIL_THE_TEST_ENDS = Duration.ofDays(1);

  private final Supplier<@Nullable LockManager> manager;
  private final ObjectProvider<Map<String, LockManager>> managers;
  private final ManualClock clock;
  private final Set<Theft> thefts;

  /** A lock that a test stole. */
  private record Theft(MemoryStore store, String name, String token) {
    void undo() {
      if (store.holder(name).equals(Optional.of(token))) {
        store.remove(name);
      }
    }
  }

  LockTestHandle(
      ObjectProvider<LockManager> manager,
      ObjectProvider<Map<String, LockManager>> managers,
      ManualClock clock) {
    this(manager::getIfUnique, managers, clock, ConcurrentHashMap.newKeySet());
  }

  private LockTestHandle(
      Supplier<@Nullable LockManager> manager,
      ObjectProvider<Map<String, LockManager>> managers,
      ManualClock clock,
      Set<Theft> thefts) {
    this.manager = manager;
    this.managers = managers;
    this.clock = clock;
    this.thefts = thefts;
  }

  /**
   * Returns the handle of one of several managers. This handle is that of the only or primary one.
   *
   * @param bean the name of the manager's bean
   * @return a handle for the locks of that manager
   * @throws IllegalArgumentException if there is no such manager
   */
  public LockTestHandle manager(String bean) {
    LockManager named = all().get(bean);
    if (named == null) {
      throw new IllegalArgumentException(
          "no lock manager is named '" + bean + "'; choose one of " + all().keySet());
    }
    return new LockTestHandle(() -> named, managers, clock, thefts);
  }

  /**
   * Moves the clock of all managers ahead. Leases are renewed and lost, and their callbacks run,
   * before this returns.
   *
   * @param time zero to 365 days
   */
  public void advance(Duration time) {
    clock.advance(time);
  }

  /**
   * Returns whether a lock is held, by this application or by a thief.
   *
   * @param name the name of the lock
   * @return true if it is held
   */
  public boolean isHeld(String name) {
    return store().holder(name).isPresent();
  }

  /**
   * Gives a lock to another owner until the test ends, whether it is held or not.
   *
   * @param name the name of the lock
   */
  public void steal(String name) {
    steal(name, UNTIL_THE_TEST_ENDS);
  }

  /**
   * Gives a lock to another owner, whether it is held or not.
   *
   * @param name the name of the lock
   * @param ttl how long the other owner holds it, above zero, up to 365 days
   */
  public void steal(String name, Duration ttl) {
    MemoryStore store = store();
    String token = "stolen:" + UUID.randomUUID();
    thefts.add(new Theft(store, name, token));
    store.steal(name, token, ttl);
  }

  /**
   * Ends a lock as if its time were up, so that other owners can have it.
   *
   * @param name the name of the lock
   * @return true if it was held
   */
  public boolean expire(String name) {
    return store().expire(name);
  }

  /**
   * Cuts the manager off from its nodes until {@link #reconnect} or the end of the test: requests,
   * renewals and releases end in an outage.
   */
  public void cutOff() {
    store().outage(true);
  }

  /** Ends the outage that {@link #cutOff} began. */
  public void reconnect() {
    store().outage(false);
  }

  /** Gives stolen locks back, and ends outages. */
  void reset() {
    all().values().stream()
        .map(LockTestHandle::storeOf)
        .flatMap(Optional::stream)
        .forEach(store -> store.outage(false));
    thefts.forEach(Theft::undo);
    thefts.clear();
  }

  private Map<String, LockManager> all() {
    return Objects.requireNonNullElse(managers.getIfAvailable(), Map.of());
  }

  private MemoryStore store() {
    LockManager only = manager.get();
    if (only == null) {
      throw new IllegalStateException(
          "there are several lock managers; choose one by manager(name): " + all().keySet());
    }
    return storeOf(only)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "the lock manager of this test is not in memory, but "
                        + only.getClass().getName()
                        + "; remove the bean that takes its place"));
  }

  private static Optional<MemoryStore> storeOf(LockManager manager) {
    return manager.unwrap(MemoryStore.class);
  }
}
