package dev.holdfast.micrometer;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A fake manager whose events, nodes and leases the test writes. It gives no locks. */
final class ScriptedManager implements LockManager {
  final List<LockListener> listeners = new ArrayList<>();
  private List<LockNode> nodes = List.of(node("h1", LockNode.State.UP));
  private int leases;
  private boolean refusesListeners;

  static LockNode node(String address, LockNode.State state) {
    return new LockNode(address, state, Instant.EPOCH, "", Optional.empty());
  }

  ScriptedManager nodes(LockNode... nodes) {
    this.nodes = List.of(nodes);
    return this;
  }

  ScriptedManager leases(int leases) {
    this.leases = leases;
    return this;
  }

  ScriptedManager refuseListeners() {
    refusesListeners = true;
    return this;
  }

  void report(Consumer<LockListener> event) {
    listeners.forEach(event);
  }

  @Override
  public LockListener.Registration addListener(LockListener listener) {
    if (refusesListeners) {
      throw new IllegalStateException("the manager is closed");
    }
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  @Override
  public List<LockNode> nodes() {
    return nodes;
  }

  @Override
  public List<HeldLock> leases() {
    return Collections.nCopies(
        leases, new HeldLock("l", "o", Instant.EPOCH, Duration.ZERO, Optional.empty()));
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Lease acquire(LockRequest request) {
    throw new UnsupportedOperationException();
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
    return Set.of();
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return Optional.empty();
  }

  @Override
  public void close() {}

  @Override
  public void close(Duration grace) {}
}
