package dev.holdfast.legacy.setnx;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LossReason;
import dev.holdfast.core.AttemptProgress;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.testnodes.TestNode;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Clients of one server: managers of ours, and raw commands in proxy. Closes what it opened. */
final class Fleet implements AutoCloseable {
  static final Duration TTL = Duration.ofSeconds(10);

  /** The key of the lock {@code orders}. */
  static final String KEY = "lock.orders";

  static final Attempt ATTEMPT = new Attempt("orders", "somebody", TTL, new AttemptProgress());

  /** So that a busy machine is not taken for an outage. */
  private static final Duration PATIENT = Duration.ofSeconds(5);

  private final TestNode node;
  private final Deque<Runnable> open = new ArrayDeque<>();

  Fleet(TestNode node) {
    this.node = node;
    node.command("FLUSHALL");
  }

  LockManager manager(Clock clock) {
    return manager(clock, settings -> {});
  }

  LockManager manager(Clock clock, Consumer<SetnxLocks.Builder> settings) {
    return manager(node.uri(), clock, settings);
  }

  LockManager manager(InterceptingProxy proxy, Clock clock) {
    return manager(proxy, clock, settings -> {});
  }

  LockManager manager(InterceptingProxy proxy, Clock clock, Consumer<SetnxLocks.Builder> settings) {
    return manager(proxy.uri(), clock, settings);
  }

  LockManager manager(String uri, Clock clock, Consumer<SetnxLocks.Builder> settings) {
    SetnxLocks.Builder builder =
        SetnxLocks.builder()
            .node(URI.create(uri))
            .clock(clock)
            .quorumTimeout(PATIENT)
            .retryDelay(Duration.ofMillis(10));
    settings.accept(builder);
    LockManager locks = builder.open();
    open.push(locks::close);
    return locks;
  }

  InterceptingProxy proxy() {
    InterceptingProxy proxy = new InterceptingProxy(node);
    open.push(proxy::close);
    return proxy;
  }

  static LockPrimitive primitive(LockManager locks) {
    return locks.unwrap(LockPrimitive.class).orElseThrow();
  }

  static Lease take(LockManager locks, String name) throws InterruptedException {
    return locks.tryAcquire(name, TTL).orElseThrow();
  }

  /** An attempt that gets the lock. */
  static SetnxGrant granted(LockManager locks) {
    return (SetnxGrant) answered(primitive(locks).attempt(ATTEMPT));
  }

  static CompletableFuture<Extension> extended(LockManager locks, SetnxGrant grant) {
    return primitive(locks).extend(grant, TTL);
  }

  static CompletableFuture<Optional<LossReason>> released(LockManager locks, SetnxGrant grant) {
    return primitive(locks)
        .release(LockPrimitive.Release.deletionOf(grant))
        .thenApply(LockPrimitive.Released::loss);
  }

  static <T> T answered(CompletableFuture<T> stage) {
    return stage.orTimeout(5, TimeUnit.SECONDS).join();
  }

  /** Sends a command as another client does. The key of a lock is {@code lock.} and its name. */
  @Nullable Object say(String... words) {
    return node.command(words);
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
