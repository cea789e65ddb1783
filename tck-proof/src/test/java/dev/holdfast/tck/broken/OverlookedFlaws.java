package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.lang.ref.Cleaner;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Mistakes that a reviewer overlooks: limits that are large, and cases that are rare. */
final class OverlookedFlaws {
  private static final Duration PASSES = Duration.ofMillis(100);

  private OverlookedFlaws() {}

  static List<Flaw> all() {
    List<Flaw> all = new ArrayList<>(ofLimits());
    all.addAll(ofRareCases());
    all.addAll(ofSharing());
    all.addAll(ofRemembering());
    all.addAll(ofClosing());
    return all;
  }

  private static List<Flaw> ofLimits() {
    return List.of(
        Flaw.inManager(
                "an interrupt takes away one of 2,048 places for threads that wait",
                Set.of("WAIT-7"),
                LosingPlaces::new)
            .asVariation(),
        Flaw.inManager(
                "at most 1,024 asynchronous requests are in progress, also those that wait",
                Set.of("ACQ-6"),
                CountingWaiters::new)
            .asVariation(),
        Flaw.inManager(
                "of more than 1,024 leases at the same time the oldest are forgotten",
                Set.of("WAIT-14"),
                Forgetting::new)
            .asVariation());
  }

  private static List<Flaw> ofRareCases() {
    return List.of(
        Flaw.inNode(
                "a name that is a number is kept without zeros before it",
                Set.of("ACQ-7"),
                () ->
                    new FakeKeys() {
                      @Override
                      String key(String name) {
                        return name.replaceFirst("^0+(?=\\d+$)", "");
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "a registration is found by equals() of its listener",
                Set.of("LISTEN-8"),
                FindingByEquals::new)
            .asVariation(),
        Flaw.inLease(
                "releaseAsync of a lease that was lost is answered at once",
                Set.of("LISTEN-10"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public CompletableFuture<Boolean> releaseAsync() {
                        return right.isHeld()
                            ? right.releaseAsync()
                            : CompletableFuture.completedFuture(false);
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "close does nothing on an interrupted thread",
                Set.of("CLOSE-4"),
                right ->
                    new PassingManager(right) {
                      @Override
                      public void close() {
                        if (!Thread.currentThread().isInterrupted()) {
                          super.close();
                        }
                      }
                    })
            .asVariation(),
        Flaw.of(
                "a transfer text may have other characters in between",
                Set.of("TRANSFER-9"),
                Parts.TRANSFERRING.withManagers(
                    right ->
                        new PassingManager(right.get()) {
                          @Override
                          public Lease adopt(String text, LockRequest request) {
                            return super.adopt(text.replaceAll("[^A-Za-z0-9_-]", ""), request);
                          }
                        }))
            .asVariation());
  }

  private static List<Flaw> ofClosing() {
    return List.of(
        Flaw.inManager(
                "closing waits for a request that was refused",
                Set.of("CLOSE-4"),
                right ->
                    new PassingManager(right) {
                      private volatile boolean isRefused;

                      @Override
                      public Optional<Lease> tryAcquire(LockRequest request)
                          throws InterruptedException {
                        try {
                          return super.tryAcquire(request);
                        } catch (LockConfigurationException e) {
                          isRefused = true;
                          throw e;
                        }
                      }

                      @Override
                      public void close() {
                        if (isRefused) {
                          LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
                        }
                        super.close();
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "closing releases the leases of threads that have ended",
                Set.of("CLOSE-1"),
                Orphaning::new)
            .asVariation(),
        Flaw.inManager(
                "a lease that no code can reach is released",
                Set.of("ACQ-10"),
                right -> PassingManager.withLeases(right, Collecting::new))
            .asVariation(),
        Flaw.inNode(
                "a byte order mark is left out of a name",
                Set.of("ACQ-7"),
                () ->
                    new FakeKeys() {
                      @Override
                      String key(String name) {
                        return name.replaceFirst("^\ufeff", "");
                      }
                    })
            .asVariation());
  }

  private static final class Collecting extends PassingLease {
    private static final Cleaner CLEANER = Cleaner.create();

    Collecting(Lease right) {
      super(right);
      CLEANER.register(this, right::releaseAsync);
    }
  }

  private static final class Orphaning extends PassingManager {
    private final Map<Lease, Thread> owners = Collections.synchronizedMap(new WeakHashMap<>());

    Orphaning(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      owners.put(granted, Thread.currentThread());
      return granted;
    }

    @Override
    public void close() {
      Map.copyOf(owners).forEach(Orphaning::releaseIfOwnerEnded);
      super.close();
    }

    private static void releaseIfOwnerEnded(Lease lease, Thread owner) {
      if (!owner.isAlive() && lease.isHeld()) {
        lease.releaseAsync();
      }
    }
  }

  private static List<Flaw> ofSharing() {
    return List.of(
        Flaw.inManager(
                "an inspection shares the answer to one that is in progress",
                Set.of("RES-2"),
                Sharing::new)
            .asVariation(),
        Flaw.inManager(
                "after five outages the last one is reported for some time",
                Set.of("RES-2", "FAULT-8"),
                Breaking::new)
            .asVariation(),
        Flaw.of(
                "a lease that was adopted is referred to until it is released",
                Set.of("KEEP-4"),
                Parts.TRANSFERRING.withManagers(right -> new Referring(right.get())))
            .asVariation());
  }

  private static List<Flaw> ofRemembering() {
    return List.of(
        Flaw.inLease(
                "requireHeld passes for 100 ms after it has passed",
                Set.of("LOSS-9", "RES-2"),
                Trusting::new)
            .asVariation(),
        Flaw.inLease(
                "an extension by as much within 100 ms of the last one repeats its answer",
                Set.of("RES-2"),
                Repeating::new)
            .asVariation(),
        Flaw.inManager(
                "at most 200 threads may be in a call that waits",
                Set.of("ACQ-6"),
                right -> new LimitFlaws.Places(right, 200))
            .asVariation(),
        Flaw.inManager(
                "a name is looked for by its composed form",
                Set.of("INSP-1", "INSP-2"),
                Composing::new)
            .asVariation(),
        Flaw.inNode(
                "a lock that is looked at lasts for 100 ms more at least",
                Set.of("ACQ-10"),
                () ->
                    new FakeKeys() {
                      @Override
                      Duration left(String name) {
                        Duration left = super.left(name);
                        if (left.compareTo(PASSES) < 0) {
                          expire(name, PASSES);
                        }
                        return left;
                      }
                    })
            .asVariation(),
        Flaw.inNode(
                "a name of more than 512 characters is kept without its middle",
                Set.of("ACQ-7"),
                () ->
                    new FakeKeys() {
                      @Override
                      String key(String name) {
                        return name.length() > 512
                            ? name.substring(0, 256) + name.substring(name.length() - 256)
                            : name;
                      }
                    })
            .asVariation(),
        Flaw.of(
                "an adoption that no quorum answers is tried again",
                Set.of("LISTEN-1"),
                Parts.TRANSFERRING.withManagers(
                    right ->
                        new PassingManager(right.get()) {
                          @Override
                          public Lease adopt(String text, LockRequest request) {
                            try {
                              return super.adopt(text, request);
                            } catch (LockOutageException e) {
                              return super.adopt(text, request);
                            }
                          }
                        }))
            .asVariation(),
        Flaw.of(
                "an adopted lease is closed without a warning",
                Set.of("REL-7"),
                Parts.TRANSFERRING.withManagers(
                    right ->
                        new PassingManager(right.get()) {
                          @Override
                          public Lease adopt(String text, LockRequest request) {
                            return new PassingLease(super.adopt(text, request)) {
                              @Override
                              public void close() {
                                if (isHeld()) {
                                  super.close();
                                }
                              }
                            };
                          }
                        }))
            .asVariation(),
        Flaw.of(
                "a future of a transfer passes on its cancellation alone",
                Set.of("TRANSFER-11"),
                Parts.TRANSFERRING.withManagers(
                    right ->
                        PassingManager.withLeases(
                            right.get(),
                            lease ->
                                new PassingLease(lease) {
                                  @Override
                                  public CompletableFuture<String> transferAsync(Duration within) {
                                    return PassedFlaws.cancelledOnly(super.transferAsync(within));
                                  }
                                })))
            .asVariation());
  }

  private static final class Trusting extends PassingLease {
    private long passed = System.nanoTime() - PASSES.toNanos();

    Trusting(Lease right) {
      super(right);
    }

    @Override
    public synchronized void requireHeld() {
      if (System.nanoTime() - passed >= PASSES.toNanos()) {
        super.requireHeld();
        passed = System.nanoTime();
      }
    }
  }

  private static final class Repeating extends PassingLease {
    private long extended = System.nanoTime() - PASSES.toNanos();
    private Duration by = Duration.ZERO;

    Repeating(Lease right) {
      super(right);
    }

    @Override
    public synchronized void extend(Duration ttl) {
      if (!ttl.equals(by) || System.nanoTime() - extended >= PASSES.toNanos()) {
        super.extend(ttl);
        by = ttl;
        extended = System.nanoTime();
      }
    }
  }

  private static final class Composing extends PassingManager {
    Composing(LockManager right) {
      super(right);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      return super.inspect(Normalizer.normalize(name, Normalizer.Form.NFC));
    }

    @Override
    public boolean forceRelease(String name) {
      return super.forceRelease(Normalizer.normalize(name, Normalizer.Form.NFC));
    }
  }

  private static final class LosingPlaces extends PassingManager {
    private final Semaphore places = new Semaphore(2_048);

    LosingPlaces(LockManager right) {
      super(right);
    }

    @Override
    public Lease acquire(LockRequest request) throws InterruptedException {
      if (!places.tryAcquire()) {
        throw new LockOutageException("no place is left", Map.of(), false);
      }
      try {
        Lease lease = super.acquire(request);
        places.release();
        return lease;
      } catch (RuntimeException e) {
        places.release();
        throw e;
      }
    }
  }

  private static final class CountingWaiters extends PassingManager {
    private final Semaphore places = new Semaphore(1_024);

    CountingWaiters(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
      if (!places.tryAcquire()) {
        return new CompletableFuture<>(); // as in a queue without a limit of time
      }
      CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
      asked.whenComplete((lease, failure) -> places.release());
      return asked;
    }
  }

  private static final class Forgetting extends PassingManager {
    private final Deque<Lease> known = new ArrayDeque<>();

    Forgetting(LockManager right) {
      super(right);
    }

    @Override
    synchronized Lease lease(Lease granted) {
      known.add(granted);
      if (known.size() > 1_024) {
        known.remove();
      }
      return new PassingLease(granted) {
        @Override
        public CompletableFuture<Boolean> releaseAsync() {
          return forget(right) ? right.releaseAsync() : CompletableFuture.completedFuture(false);
        }
      };
    }

    private synchronized boolean forget(Lease lease) {
      return known.remove(lease);
    }
  }

  private static final class FindingByEquals extends PassingManager {
    private final List<Registered> all = new ArrayList<>();

    private record Registered(LockListener listener, LockListener.Registration registration) {}

    FindingByEquals(LockManager right) {
      super(right);
    }

    @Override
    public synchronized LockListener.Registration addListener(LockListener listener) {
      all.add(new Registered(listener, right.addListener(listener)));
      return () -> remove(listener);
    }

    private synchronized void remove(LockListener listener) {
      Optional<Registered> found =
          all.stream().filter(one -> one.listener().equals(listener)).findFirst();
      found.ifPresent(
          one -> {
            all.remove(one);
            one.registration().close();
          });
    }
  }

  private static final class Sharing extends PassingManager {
    private final Map<String, CompletableFuture<Optional<LockStatus>>> asked =
        new ConcurrentHashMap<>();

    Sharing(LockManager right) {
      super(right);
    }

    @Override
    public Optional<LockStatus> inspect(String name) {
      CompletableFuture<Optional<LockStatus>> own = new CompletableFuture<>();
      CompletableFuture<Optional<LockStatus>> earlier = asked.putIfAbsent(name, own);
      if (earlier != null) {
        return earlier.join();
      }
      try {
        own.complete(super.inspect(name));
      } catch (RuntimeException e) {
        own.complete(Optional.empty());
        throw e;
      } finally {
        asked.remove(name);
      }
      return own.join();
    }
  }

  private static final class Breaking extends PassingManager {
    private static final int MAX_OUTAGES = 5;
    private static final Duration REST = Duration.ofSeconds(5);

    private int inARow;
    private long since;
    private @Nullable LockOutageException last;

    Breaking(LockManager right) {
      super(right);
    }

    @Override
    public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
      rest();
      try {
        Optional<Lease> lease = super.tryAcquire(request);
        count(null);
        return lease;
      } catch (LockOutageException e) {
        count(e);
        throw e;
      }
    }

    private synchronized void rest() {
      if (last != null && inARow >= MAX_OUTAGES && System.nanoTime() - since < REST.toNanos()) {
        throw last;
      }
    }

    private synchronized void count(@Nullable LockOutageException outage) {
      inARow = outage == null ? 0 : inARow + 1;
      last = outage;
      since = System.nanoTime();
    }
  }

  private static final class Referring extends PassingManager {
    private final Set<Lease> adopted = ConcurrentHashMap.newKeySet();

    Referring(LockManager right) {
      super(right);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      Lease lease = super.adopt(text, request);
      adopted.add(lease);
      return lease;
    }
  }
}
