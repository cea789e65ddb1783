package dev.holdfast.micrometer;

import dev.holdfast.LockManager;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of one lock manager: how long requests wait, how long locks are held, why leases are
 * lost, how each node votes, and how many more nodes may fail.
 *
 * <pre>{@code
 * HoldfastMetrics metrics = new HoldfastMetrics(locks, "orders", Tags.empty());
 * metrics.bindTo(registry);
 * }</pre>
 *
 * <p>Each meter has the tags {@code manager} and {@code backend}. The name of a lock is no tag
 * unless {@link #withLockTag} says so, because names are often unbounded. Several managers can be
 * bound to one registry, under different names. Safe for use by many threads.
 */
public final class HoldfastMetrics implements MeterBinder, AutoCloseable {
  private final LockManager manager;
  private final String name;
  private final @Nullable String backend;
  private final Tags tags;
  private final @Nullable Function<String, String> lockTag;
  private final AtomicReference<State> state = new AtomicReference<>(new State(false, Map.of()));

  /** The registries that the metrics are bound to. */
  private record State(boolean isClosed, Map<MeterRegistry, ManagerMeters> bound) {
    State with(MeterRegistry registry, ManagerMeters meters) {
      Map<MeterRegistry, ManagerMeters> more = new HashMap<>(bound);
      more.put(registry, meters);
      return new State(isClosed, Map.copyOf(more));
    }

    State without(MeterRegistry registry) {
      Map<MeterRegistry, ManagerMeters> fewer = new HashMap<>(bound);
      fewer.remove(registry);
      return new State(isClosed, Map.copyOf(fewer));
    }
  }

  /**
   * Creates the metrics of a manager. Nothing is recorded until they are bound to a registry.
   *
   * @param manager the manager, which stays open when the metrics are closed
   * @param name the value of the tag {@code manager}: one name for each manager of a registry
   * @param tags more tags of each meter, with the same keys for all managers of a registry
   */
  public HoldfastMetrics(LockManager manager, String name, Iterable<Tag> tags) {
    this(manager, name, null, Tags.of(tags), null);
  }

  private HoldfastMetrics(
      LockManager manager,
      String name,
      @Nullable String backend,
      Tags tags,
      @Nullable Function<String, String> lockTag) {
    this.manager = Objects.requireNonNull(manager, "manager");
    this.name = Objects.requireNonNull(name, "name");
    this.backend = backend;
    this.tags = Objects.requireNonNull(tags, "tags");
    this.lockTag = lockTag;
  }

  /**
   * Sets the tag {@code backend}.
   *
   * @param backend the value, by default {@link LockManager#backend()}, such as {@code redlock}
   * @return new metrics of the same manager, which are not bound
   */
  public HoldfastMetrics withBackend(String backend) {
    return new HoldfastMetrics(
        manager, name, Objects.requireNonNull(backend, "backend"), tags, lockTag);
  }

  /**
   * Adds the tag {@code lock} to the meters {@code holdfast.acquire}, {@code holdfast.hold}, {@code
   * holdfast.lost}, {@code holdfast.renewal} and {@code holdfast.overrun}. A registry keeps a meter
   * for each value forever, so the function must map all names to a few values, for example to the
   * part before the first hyphen. With Prometheus all managers of a registry need this tag or none.
   *
   * @param lockTag maps the name of a lock to the value. It is called inline, so it must return at
   *     once. If it throws or returns nothing, the value is {@code unknown}
   * @return new metrics of the same manager, which are not bound
   */
  public HoldfastMetrics withLockTag(Function<String, String> lockTag) {
    return new HoldfastMetrics(
        manager, name, backend, tags, Objects.requireNonNull(lockTag, "lockTag"));
  }

  /**
   * Adds the meters to a registry, and listens to the manager from now on. Does nothing if they are
   * bound to the registry already.
   *
   * @param registry where to record
   * @throws IllegalStateException if the metrics are closed, or if the registry has meters of
   *     another manager of this name
   * @throws dev.holdfast.LockConfigurationException if the manager is a decorator that hides the
   *     manager below
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    Objects.requireNonNull(registry, "registry");
    Tags all = tags.and("manager", name, "backend", backend == null ? manager.backend() : backend);
    ManagerMeters meters = new ManagerMeters(manager, registry, all, LockTag.of(lockTag));
    if (!enter(registry, meters)) {
      return;
    }
    try {
      meters.start(name);
    } catch (RuntimeException | Error e) {
      meters.close();
      state.updateAndGet(now -> now.without(registry));
      throw e;
    }
  }

  /** Notes the binding. Returns false if the registry is bound already. */
  private boolean enter(MeterRegistry registry, ManagerMeters meters) {
    State before =
        state.getAndUpdate(
            now ->
                now.isClosed() || now.bound().containsKey(registry)
                    ? now
                    : now.with(registry, meters));
    if (before.isClosed()) {
      throw new IllegalStateException(
          "the metrics of the lock manager '" + name + "' are closed: create new ones");
    }
    return !before.bound().containsKey(registry);
  }

  /**
   * Removes the meters from all registries, and stops listening. The manager stays open. May be
   * called again.
   */
  @Override
  public void close() {
    State before = state.getAndSet(new State(true, Map.of()));
    before.bound().values().forEach(ManagerMeters::close);
  }
}
