package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.tck.broken.SmallRedlock.Held;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** How long others are kept out by what is released early. */
final class HoldFlaws {
  private HoldFlaws() {}

  static List<Flaw> all() {
    return List.of(
        of(
                "releaseAsync forgets holdAtLeast",
                () ->
                    new Keeping() {
                      @Override
                      Lease lease(Lease granted) {
                        return new PassingLease(granted) {
                          @Override
                          public CompletableFuture<Boolean> releaseAsync() {
                            forgotten().add(token());
                            return super.releaseAsync();
                          }
                        };
                      }
                    })
            .asVariation(),
        of(
                "closing a lease forgets holdAtLeast",
                () ->
                    new Keeping() {
                      @Override
                      Lease lease(Lease granted) {
                        return new PassingLease(granted) {
                          @Override
                          public void close() {
                            forgotten().add(token());
                            super.close();
                          }
                        };
                      }
                    })
            .asVariation(),
        of(
                "whoever did not ask for the lock gives it back at once",
                () ->
                    new Keeping() {
                      @Override
                      Lease lease(Lease granted) {
                        Thread asked = Thread.currentThread();
                        return new PassingLease(granted) {
                          @Override
                          public boolean release() {
                            if (Thread.currentThread() != asked) {
                              forgotten().add(token());
                            }
                            return super.release();
                          }
                        };
                      }
                    })
            .asVariation(),
        of(
                "an extended lease forgets holdAtLeast",
                () ->
                    new Keeping() {
                      @Override
                      Lease lease(Lease granted) {
                        return new PassingLease(granted) {
                          @Override
                          public void extend(Duration ttl) {
                            super.extend(ttl);
                            forgotten().add(token());
                          }
                        };
                      }
                    })
            .asVariation(),
        of(
            "holdAtLeast is rounded up to seconds",
            Set.of("ACQ-11", "VAL-7"),
            () ->
                new Keeping() {
                  @Override
                  Duration keep(Held held, Duration keep) {
                    return keep.isZero() ? keep : Duration.ofSeconds(keep.toSeconds() + 1);
                  }
                }),
        of(
                "holdAtLeast is counted from the release",
                () ->
                    new Keeping() {
                      @Override
                      Duration keep(Held held, Duration keep) {
                        return asked(held.name()).map(LockRequest::holdAtLeast).orElse(keep);
                      }
                    })
            .asVariation(),
        of("holdAtLeast is counted from the call that waits", FromTheCall::new).asVariation(),
        of("a waiter in the same process is handed what must be kept", HandedOver::new)
            .asVariation(),
        Flaw.inRedlock(
                "closing a manager removes what must be kept",
                Set.of("ACQ-11"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      private final Map<String, Held> kept = new ConcurrentHashMap<>();

                      @Override
                      Request release(Held held, Duration keep) {
                        if (!keep.isZero()) {
                          kept.put(held.token(), held);
                        }
                        return super.release(held, keep);
                      }

                      @Override
                      public void close() {
                        kept.values().forEach(held -> ask(taken(held), votes -> true));
                        super.close();
                      }
                    })
            .asVariation());
  }

  private static Flaw of(String mistake, Supplier<Keeping> keeping) {
    return of(mistake, Set.of("ACQ-11"), keeping);
  }

  private static Flaw of(String mistake, Set<String> rules, Supplier<Keeping> keeping) {
    Keeping mine = keeping.get();
    return Flaw.of(
        mistake,
        rules,
        Parts.RIGHT
            .withManagers(right -> mine.manager(right.get()))
            .withPrimitives(
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      public CompletableFuture<Outcome> attempt(Attempt attempt) {
                        return super.attempt(attempt)
                            .whenComplete(
                                (outcome, failure) -> {
                                  if (outcome instanceof Held held) {
                                    mine.granted(held);
                                  }
                                });
                      }

                      @Override
                      Request release(Held held, Duration keep) {
                        return super.release(held, mine.keepUnlessForgotten(held, keep));
                      }
                    }));
  }

  /** Knowledge that a manager and its primitive share. Names and tokens are used once. */
  private static class Keeping {
    private final Set<String> forgotten = ConcurrentHashMap.newKeySet();
    private final Map<String, LockRequest> asked = new ConcurrentHashMap<>();

    /** The tokens of leases that are given back as if they had never asked for it. */
    Set<String> forgotten() {
      return forgotten;
    }

    Optional<LockRequest> asked(String name) {
      return Optional.ofNullable(asked.get(name))
          .filter(request -> !request.holdAtLeast().isZero());
    }

    void asking(LockRequest request) {
      asked.put(request.name(), request);
    }

    void granted(Held held) {}

    Lease lease(Lease granted) {
      return granted;
    }

    Duration keep(Held held, Duration keep) {
      return keep;
    }

    Duration keepUnlessForgotten(Held held, Duration keep) {
      return forgotten.contains(held.token()) ? Duration.ZERO : keep(held, keep);
    }

    LockManager manager(LockManager right) {
      return new PassingManager(right) {
        @Override
        LockRequest request(LockRequest request) {
          asking(request);
          return request;
        }

        @Override
        Lease lease(Lease granted) {
          return Keeping.this.lease(granted);
        }
      };
    }
  }

  private static final class FromTheCall extends Keeping {
    private final Map<String, Long> begun = new ConcurrentHashMap<>();
    private final Map<String, Duration> waited = new ConcurrentHashMap<>();

    @Override
    void asking(LockRequest request) {
      begun.put(request.name(), System.nanoTime());
    }

    @Override
    void granted(Held held) {
      long since = begun.getOrDefault(held.name(), System.nanoTime());
      waited.put(held.token(), Duration.ofNanos(System.nanoTime() - since));
    }

    @Override
    Duration keep(Held held, Duration keep) {
      Duration left = keep.minus(waited.getOrDefault(held.token(), Duration.ZERO));
      return left.isNegative() ? Duration.ZERO : left;
    }
  }

  private static final class HandedOver extends Keeping {
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();

    @Override
    Duration keep(Held held, Duration keep) {
      return waiting.contains(held.name()) ? Duration.ZERO : keep;
    }

    @Override
    LockManager manager(LockManager right) {
      return new PassingManager(right) {
        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
          CompletableFuture<Optional<Lease>> asked = super.tryAcquireAsync(request);
          if (!asked.isDone()) {
            waiting.add(request.name());
          }
          asked.whenComplete((lease, failure) -> waiting.remove(request.name()));
          return asked;
        }
      };
    }
  }
}
