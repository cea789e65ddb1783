package dev.holdfast.tck.broken;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Short leases that are served worse, ends that come late, and outages that leave a trace. */
final class TimelinessFlaws {
  private static final long SWEEP_NANOS = Duration.ofMillis(500).toNanos();
  private static final long SHORT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final Duration LITTLE = Duration.ofMillis(700);

  private TimelinessFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
                "a lease of less than a second is extended whatever the nodes say",
                Set.of("EXT-1"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      Extension extension(
                          Held held, ClockReading start, Duration ttl, Votes votes) {
                        return isAnswered(votes)
                                && clock.now().nanosUntil(held.validUntil()) < SHORT_NANOS
                            ? new Extended(validUntil(start, ttl))
                            : super.extension(held, start, ttl, votes);
                      }
                    })
            .breaksUnderLoad("LISTEN-7", "LOSS-4", "KEEP-3", "EXT-4")
            .asVariation(),
        Flaw.inLease(
                "a lease with little time left is extended by a second at most",
                Set.of("EXT-10"),
                BriefExtensions::new)
            .asVariation(),
        Flaw.inNode(
                "locks that have expired are removed every 500 ms",
                Set.of("ACQ-10", "ACQ-11", "ACQ-22"),
                Sweeping::new)
            .breaksUnderLoad("VAL-7", "FAULT-6")
            .asVariation(),
        Flaw.inManager(
                "inspect shows no more than was left at the grant",
                Set.of("INSP-1"),
                InspectionOfGrants::new)
            .asVariation(),
        Flaw.inManager(
                "a future is returned once its client has waited for the answer",
                Set.of("RES-3"),
                BlockingClient::new)
            .asVariation(),
        Flaw.inManager(
                "leases that have expired are shown until they are swept away",
                Set.of("NODES-3"),
                ShownTooLong::new)
            .asVariation(),
        Flaw.of(
                "a text that was used in this process has expired",
                Set.of("TRANSFER-8"),
                Parts.TRANSFERRING.withManagers(right -> new UsedTexts(right.get())))
            .asVariation(),
        Flaw.inRedlock(
                "a release says that no other manager waits",
                Set.of("WAIT-10"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      public CompletableFuture<Released> release(Release release) {
                        return super.release(release)
                            .thenApply(released -> new Released(released.loss(), 0));
                      }
                    })
            .asVariation(),
        Flaw.inMembers(
                "a node is given up after its third outage",
                Set.of("FAULT-3", "REL-2", "EXT-1", "WAIT-5"),
                GivingUpNodes::new)
            .breaksUnderLoad("FAULT-1", "FAULT-2", "FAULT-8", "KEEP-2", "REL-6")
            .asVariation());
  }

  private static final class InspectionOfGrants extends PassingManager {
    private static final Map<String, Duration> TTLS = new ConcurrentHashMap<>();

    InspectionOfGrants(LockManager right) {
      super(right);
    }

    @Override
    LockRequest request(LockRequest asked) {
      TTLS.put(asked.name(), asked.ttl());
      return asked;
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      return super.inspect(name).map(this::limited);
    }

    private LockStatus limited(LockStatus seen) {
      Duration ttl = TTLS.getOrDefault(seen.name(), seen.remaining());
      return ttl.compareTo(seen.remaining()) >= 0
          ? seen
          : new LockStatus(seen.name(), seen.ownerLabel(), ttl, seen.votes());
    }
  }

  private static final class BlockingClient extends PassingManager {
    BlockingClient(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
      try {
        asked.get(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        // the caller looks at the future
      }
      return asked;
    }
  }

  private static final class BriefExtensions extends PassingLease {
    BriefExtensions(Lease right) {
      super(right);
    }

    @Override
    public void extend(Duration ttl) {
      super.extend(given(ttl));
    }

    @Override
    public CompletableFuture<Void> extendAsync(Duration ttl) {
      return super.extendAsync(given(ttl));
    }

    private Duration given(Duration ttl) {
      Duration second = Duration.ofSeconds(1);
      return remaining().compareTo(LITTLE) < 0 && ttl.compareTo(second) > 0 ? second : ttl;
    }
  }

  /** Keeps a key that is over until the next multiple of the period. */
  private static final class Sweeping extends FakeKeys {
    private final Map<String, Long> ends = new HashMap<>();
    private boolean isSwept = true;

    @Override
    boolean contains(String name) {
      Long end = ends.get(name);
      isSwept =
          end == null
              || Math.floorDiv(System.nanoTime(), SWEEP_NANOS) != Math.floorDiv(end, SWEEP_NANOS);
      return super.contains(name);
    }

    @Override
    boolean isOver(Duration left, Duration ttl) {
      return left.isZero() && isSwept;
    }

    @Override
    void put(String name, String token, Duration ttl) {
      ends.put(name, System.nanoTime() + ttl.toNanos());
      super.put(name, token, ttl);
    }

    @Override
    void expire(String name, Duration ttl) {
      super.expire(name, ttl);
      ends.put(name, System.nanoTime() + ttl.toNanos());
    }
  }

  private static final class ShownTooLong extends PassingManager {
    private final Queue<Expiring> given = new ConcurrentLinkedQueue<>();

    /** A lease, and its end if it is not extended. */
    private record Expiring(Lease lease, long end) {
      boolean isShown() {
        long since = System.nanoTime() - end;
        return !lease.isHeld()
            && since > 0
            && since < SWEEP_NANOS
            && lease.onLoss().getNow(LossReason.EXPIRED) == LossReason.EXPIRED;
      }
    }

    ShownTooLong(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      given.add(new Expiring(granted, System.nanoTime() + granted.remaining().toNanos()));
      return granted;
    }

    @Override
    public List<HeldLock> leases() {
      return Stream.concat(
              right.leases().stream(),
              given.stream().filter(Expiring::isShown).map(one -> shown(one.lease())))
          .toList();
    }

    private static HeldLock shown(Lease lease) {
      return new HeldLock(lease.name(), "", Instant.now(), Duration.ZERO, Optional.empty());
    }
  }

  private static final class UsedTexts extends PassingManager {
    private static final Set<String> USED = ConcurrentHashMap.newKeySet();

    UsedTexts(LockManager right) {
      super(right);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      try {
        Lease adopted = super.adopt(text, request);
        USED.add(text);
        return adopted;
      } catch (LockLostException e) {
        throw USED.contains(text) ? new LockLostException(request.name(), LossReason.EXPIRED) : e;
      }
    }
  }

  private static final class GivingUpNodes extends Members {
    private static final int MAX_OUTAGES = 3;

    private final Map<Member, Integer> outages = new ConcurrentHashMap<>();
    private final Set<Member> silent = ConcurrentHashMap.newKeySet();

    GivingUpNodes(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
    }

    @Override
    CompletableFuture<Votes> ask(Poll poll) {
      List<Member> used =
          poll.nodes().stream()
              .filter(node -> outages.getOrDefault(node, 0) <= MAX_OUTAGES)
              .toList();
      return super.ask(poll.to(used))
          .whenComplete(
              (votes, failure) -> {
                if (votes != null) {
                  votes.replies().forEach(this::note);
                }
              });
    }

    private void note(Member node, Object reply) {
      boolean isSilent = reply instanceof NodeError error && error.kind() == Kind.SILENT;
      if (!isSilent) {
        silent.remove(node);
      } else if (silent.add(node)) {
        outages.merge(node, 1, Integer::sum);
      }
    }
  }
}
