package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Makes a manager of a primitive, for authors of backends. Not safe for use by many threads. */
public final class LockManagerBuilder implements ManagerSettings<LockManagerBuilder> {
  private final LockPrimitive primitive;
  private ManagerOptions options;

  private LockManagerBuilder(LockPrimitive primitive, ManagerOptions options) {
    this.primitive = primitive;
    this.options = options;
  }

  /**
   * Starts with a primitive, which the manager closes when it is closed.
   *
   * @param primitive the backend
   * @return a new builder
   */
  public static LockManagerBuilder over(LockPrimitive primitive) {
    return over(primitive, ManagerOptions.defaults());
  }

  /**
   * Starts with a primitive, which the manager closes when it is closed, and with options.
   *
   * @param primitive the backend
   * @param options the options. Their clock is the clock that the primitive uses
   * @return a new builder
   */
  public static LockManagerBuilder over(LockPrimitive primitive, ManagerOptions options) {
    return new LockManagerBuilder(primitive, options);
  }

  @Override
  public LockManagerBuilder managerOptions(UnaryOperator<ManagerOptions> change) {
    options = change.apply(options);
    return this;
  }

  /**
   * Makes the manager.
   *
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if no thread can be started
   */
  public LockManager build() {
    boolean isOwn = options.scheduler().isEmpty();
    Scheduler timers = options.scheduler().orElseGet(() -> Scheduler.create("holdfast-timer"));
    Listeners listeners = new Listeners(options.clock());
    options.listeners().forEach(listeners::add);
    NodeEvents nodeEvents = new NodeEvents(listeners, timers);
    ManagerContext context =
        new ManagerContext(
            primitive,
            withOwnCapabilities(primitive.capabilities()),
            options.clock(),
            timers,
            options.random().orElse(() -> ThreadLocalRandom.current().nextLong()),
            callbacks(timers),
            Nanos.of(options.retryDelay()),
            options.maxTtl(),
            options.ownerLabel(),
            new InFlightOperations(),
            new ConcurrencyLimiter(timers, listeners),
            new UnconfirmedReleases(timers),
            listeners,
            nodeEvents,
            onlyNode(nodeEvents));
    return new CoreLockManager(context, isOwn ? timers::close : () -> {});
  }

  /** Returns the node of a backend that shows none, or null if the backend shows its own nodes. */
  private @Nullable SingleNode onlyNode(NodeEvents nodeEvents) {
    primitive.observe(nodeEvents);
    if (!primitive.nodes().isEmpty()) {
      return null;
    }
    SingleNode only = new SingleNode(primitive.address(), options.clock());
    only.observe(nodeEvents);
    return only;
  }

  private Executor callbacks(Scheduler timers) {
    return options
        .callbacks()
        .<Executor>map(yours -> new UserExecutor(yours, timers))
        .orElse(timers::fork);
  }

  private static Set<LockCapability> withOwnCapabilities(Set<LockCapability> declared) {
    EnumSet<LockCapability> all = EnumSet.of(LockCapability.FIFO_IN_PROCESS);
    all.addAll(declared);
    if (all.contains(LockCapability.EXTENSION)) {
      all.add(LockCapability.KEEP_ALIVE);
    }
    return Collections.unmodifiableSet(all);
  }
}
