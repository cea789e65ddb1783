package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Reports that come too early, or not. */
final class ReportFlaws {
  private ReportFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inManager(
                "an asynchronous release is reported when it is asked for",
                Set.of("LISTEN-2"),
                EarlyEnds::new)
            .asVariation(),
        Flaw.inManager(
                "a lease is shown when its caller has it", Set.of("LISTEN-3"), ShownLater::new)
            .breaksUnderLoad("NODES-3")
            .asVariation(),
        Flaw.inListener(
                "a renewal that finds a loss is not reported",
                Set.of("LISTEN-7"),
                WithoutLostRenewals::new)
            .asVariation());
  }

  private static final class WithoutLostRenewals extends PassingListener {
    WithoutLostRenewals(LockListener right) {
      super(right);
    }

    @Override
    public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
      if (outcome != Renewal.LOST) {
        super.onRenewal(name, leaseId, outcome, took);
      }
    }
  }

  private static final class EarlyEnds extends PassingManager {
    private final Queue<Early> listeners = new ConcurrentLinkedQueue<>();

    EarlyEnds(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      Early early = new Early(listener);
      listeners.add(early);
      return right.addListener(early);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public CompletableFuture<Boolean> releaseAsync() {
          listeners.forEach(one -> one.end(name()));
          return super.releaseAsync();
        }
      };
    }
  }

  /** Reports the release of a name before it is answered, and not again. */
  private static final class Early extends PassingListener {
    private final Map<String, Long> granted = new ConcurrentHashMap<>();
    private final Set<Long> ended = ConcurrentHashMap.newKeySet();

    Early(LockListener right) {
      super(right);
    }

    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      granted.put(name, leaseId);
      super.onGranted(name, leaseId, waited, votes, margin);
    }

    void end(String name) {
      Long id = granted.remove(name);
      if (id != null && ended.add(id)) {
        super.onReleased(name, id, 1, true);
      }
    }

    @Override
    public void onReleased(String name, long leaseId, long held, boolean confirmed) {
      if (ended.add(leaseId)) {
        super.onReleased(name, leaseId, held, confirmed);
      }
    }
  }

  private static final class ShownLater extends PassingManager {
    private final Set<String> given = ConcurrentHashMap.newKeySet();

    ShownLater(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      given.add(granted.name());
      return granted;
    }

    @Override
    public List<HeldLock> leases() {
      return right.leases().stream().filter(held -> given.contains(held.name())).toList();
    }
  }
}
