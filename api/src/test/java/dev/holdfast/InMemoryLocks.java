package dev.holdfast;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Locks of one process that last until they are released, or lost because a test says so. */
final class InMemoryLocks implements LockManager {
  private final Map<String, InMemoryLease> held = new HashMap<>();
  private final Set<LockCapability> declared;

  InMemoryLocks() {
    this(Set.of());
  }

  /** Declares capabilities, and has none. */
  InMemoryLocks(Set<LockCapability> declared) {
    this.declared = declared;
  }

  @Override
  public synchronized Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    return take(request, request.waitAtMost().orElse(Duration.ZERO));
  }

  @Override
  public synchronized Lease acquire(LockRequest request) throws InterruptedException {
    Duration wait = request.waitAtMost().orElse(Duration.ofDays(1));
    return take(request, wait)
        .orElseThrow(
            () -> new LockContendedException(request.name(), new LockVotes(0, 1, 0), wait));
  }

  private Optional<Lease> take(LockRequest request, Duration wait) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    long limit = TimeUnit.NANOSECONDS.convert(wait);
    long start = System.nanoTime();
    while (held.containsKey(request.name())) {
      long left = TimeUnit.NANOSECONDS.toMillis(limit - (System.nanoTime() - start));
      if (left <= 0) {
        return Optional.empty();
      }
      wait(left);
    }
    InMemoryLease lease = new InMemoryLease(request);
    held.put(request.name(), lease);
    return Optional.of(lease);
  }

  /** Ends the lease that is held, as if it had been taken away. */
  void lose(String name, LossReason reason) {
    InMemoryLease lease;
    synchronized (this) {
      lease = held.remove(name);
      if (lease == null) {
        throw new AssertionError("nobody holds " + name);
      }
      lease.loss = reason;
      notifyAll();
    }
    lease.lost.complete(reason);
  }

  synchronized boolean isHeld(String name) {
    return held.containsKey(name);
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Optional<LockStatus> inspect(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean forceRelease(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Set<LockCapability> capabilities() {
    return declared;
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return Optional.empty();
  }

  @Override
  public void close() {}

  @Override
  public void close(Duration grace) {}

  private final class InMemoryLease implements Lease {
    private final LockRequest request;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private volatile @Nullable LossReason loss;
    private volatile boolean released;

    InMemoryLease(LockRequest request) {
      this.request = request;
    }

    @Override
    public String name() {
      return request.name();
    }

    @Override
    public String token() {
      return "token";
    }

    @Override
    public OptionalLong fencingToken() {
      return OptionalLong.empty();
    }

    @Override
    public Duration remaining() {
      return isHeld() ? request.ttl() : Duration.ZERO;
    }

    @Override
    public boolean isHeld() {
      return loss == null && !released;
    }

    @Override
    public void requireHeld() {
      LossReason reason = loss;
      if (reason != null) {
        throw new LockLostException(name(), reason);
      }
      if (released) {
        throw new IllegalStateException(name() + " was released");
      }
    }

    @Override
    public void extend(Duration ttl) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> extendAsync(Duration ttl) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean release() {
      synchronized (InMemoryLocks.this) {
        if (isHeld()) {
          released = true;
          held.remove(name());
          InMemoryLocks.this.notifyAll();
        }
        return loss == null;
      }
    }

    @Override
    public CompletableFuture<Boolean> releaseAsync() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<LossReason> onLoss() {
      return lost;
    }

    @Override
    public void close() {
      release();
    }
  }
}
