package dev.holdfast.benchmarks;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.ManagerBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Holdfast, as its users open it. */
final class Ours implements Contestant {
  /**
   * The time to connect that Lettuce and Redisson allow by default, so that a busy machine excludes
   * no contestant.
   */
  private static final String PATIENTLY = "10s";

  /** Without the two scripts that make an acquisition more than a SET NX PX. */
  static final Map<String, String> PLAIN =
      Map.of("fencing", "false", "restartGuard", "off", "connectTimeout", PATIENTLY);

  static final Map<String, String> SAFE =
      Map.of("fencing", "true", "restartGuard", "on", "connectTimeout", PATIENTLY);

  private static final Duration LONG = Duration.ofHours(1);

  private final LockManager locks;
  private final Queue<Lease> kept = new ConcurrentLinkedQueue<>();

  Ours(String driver, List<String> uris, Map<String, String> options, LockListener... listeners) {
    ManagerBuilder builder =
        LockManager.builder("redlock:" + driver + ":" + String.join(",", uris)).options(options);
    for (LockListener listener : listeners) {
      builder.listener(listener);
    }
    locks = builder.open();
  }

  @Override
  public boolean locked(String name, Runnable work) throws InterruptedException {
    Lease lease = locks.tryAcquire(request(name)).orElse(null);
    if (lease == null) {
      return false;
    }
    work.run();
    return lease.release();
  }

  @Override
  public CompletableFuture<Boolean> lockedAsync(String name) {
    return locks
        .tryAcquireAsync(request(name))
        .thenCompose(lease -> lease.orElseThrow().releaseAsync());
  }

  @Override
  public boolean keep(String name) throws InterruptedException {
    Optional<Lease> lease = locks.tryAcquire(request(name).keepAliveUpTo(LONG));
    // A lease that is garbage-collected would not be renewed.
    lease.ifPresent(kept::add);
    return lease.isPresent();
  }

  private static LockRequest request(String name) {
    return LockRequest.of(name, Terms.TTL).waitAtMost(Terms.WAIT);
  }

  @Override
  public void close() {
    locks.close();
  }
}
