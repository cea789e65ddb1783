package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
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
                Set.of("ACQ-11", "ACQ-22"),
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
            "a release never lengthens the life of a lock",
            Set.of("ACQ-21"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  Request release(Held held, Duration keep, boolean mayLengthen) {
                    return super.release(held, keep, false);
                  }
                }),
        Flaw.inRedlock(
                "the end of a lost lease lengthens the life of its lock",
                Set.of("ACQ-21"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      @Override
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        return super.release(held, keep, true);
                      }
                    })
            .asVariation(),
        Flaw.inManager(
                "the ttl of a lock is its holdAtLeast",
                Set.of("ACQ-21"),
                right ->
                    new PassingManager(right) {
                      @Override
                      LockRequest request(LockRequest asked) {
                        return asked.holdAtLeast().compareTo(asked.ttl()) > 0
                            ? Asked.withTtl(asked, asked.holdAtLeast())
                            : asked;
                      }
                    })
            .asVariation(),
        inMinimum(
            "a new minimum counts from the grant",
            (lease, granted, minimum) ->
                lease.holdAtLeast(
                    minimum.isZero() || minimum.compareTo(since(granted)) <= 0
                        ? Duration.ZERO
                        : minimum.minus(since(granted)))),
        inMinimum(
                "a new minimum is only taken if it is not zero",
                (lease, granted, minimum) -> {
                  if (!minimum.isZero()) {
                    lease.holdAtLeast(minimum);
                  }
                })
            .asVariation(),
        inMinimum(
                "a new minimum is only taken if it is short",
                (lease, granted, minimum) -> {
                  if (minimum.compareTo(Duration.ofSeconds(5)) < 0 || minimum.toDays() > 1) {
                    lease.holdAtLeast(minimum);
                  }
                })
            .asVariation(),
        inMinimum(
                "a new minimum for a lease that is over is dropped without a word",
                (lease, granted, minimum) -> {
                  try {
                    lease.holdAtLeast(minimum);
                  } catch (IllegalStateException | LockLostException over) {
                    // as if it had been in time
                  }
                })
            .asVariation(),
        Flaw.inRedlock(
                "closing a manager removes what must be kept",
                Set.of("ACQ-11"),
                (members, clock, timeouts) ->
                    new SmallRedlock(members, clock, timeouts) {
                      private final Map<String, Held> kept = new ConcurrentHashMap<>();

                      @Override
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        if (!keep.isZero()) {
                          kept.put(held.token(), held);
                        }
                        return super.release(held, keep, mayLengthen);
                      }

                      @Override
                      public void close() {
                        kept.values().forEach(held -> ask(taken(held), votes -> true));
                        super.close();
                      }
                    })
            .asVariation());
  }

  /** Sets a new minimum in a wrong way. */
  private interface Minimum {
    void set(Lease right, long granted, Duration minimum);
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }

  private static Flaw inMinimum(String mistake, Minimum wrong) {
    return Flaw.inLease(
        mistake,
        Set.of("ACQ-22"),
        granted -> {
          long since = System.nanoTime();
          return new PassingLease(granted) {
            @Override
            public void holdAtLeast(Duration minimum) {
              wrong.set(right, since, minimum);
            }
          };
        });
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
                      Request release(Held held, Duration keep, boolean mayLengthen) {
                        return super.release(
                            held, mine.keepUnlessForgotten(held, keep), mayLengthen);
                      }
                    }));
  }

  /** Knowledge that a manager and its primitive share. Names and tokens are used once. */
  private static class Keeping {
    private final Set<String> forgotten = ConcurrentHashMap.newKeySet();
    private final Map<String, LockRequest> asked = new ConcurrentHashMap<>();

    /** The tokens of leases that are released as if they had never asked for it. */
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
