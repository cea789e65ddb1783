package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Adoption;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Flaws in transfers and adoptions. */
final class TransferFlaws {
  private static final Duration SHORT = Duration.ofMillis(20);
  private static final Duration LONG = Duration.ofSeconds(50);

  private TransferFlaws() {}

  static List<Flaw> all() {
    return List.of(
        inSwap(
            "an adoption replaces any token",
            Set.of("TRANSFER-4", "TRANSFER-5", "TRANSFER-8"),
            (adoption, token) ->
                replacing(
                    adoption,
                    token,
                    keys -> keys.contains(adoption.attempt().name()) ? null : Answer.MISSING)),
        inSwap(
                "an adoption takes a lock that is free",
                Set.of("TRANSFER-4", "TRANSFER-5", "TRANSFER-8"),
                (adoption, token) -> replacing(adoption, token, keys -> unlessFree(keys, adoption)))
            .asVariation(),
        inSwap(
                "an adopted lock keeps the time that it had left",
                Set.of("TRANSFER-6"),
                TransferFlaws::keepingTheTime)
            .asVariation(),
        of(
            "an adoption needs all nodes",
            Set.of("TRANSFER-4"),
            (members, clock, timeouts) ->
                new TransferringRedlock(members, clock, timeouts) {
                  @Override
                  boolean isAdopted(Votes votes) {
                    return votes.mine() == votes.nodes();
                  }
                }),
        Flaw.of(
                "an adoption looks at the token first, and replaces it then",
                Set.of("TRANSFER-5", "TRANSFER-7"),
                Parts.TRANSFERRING.withConnections(
                    TwoSteps.of(Verb.SWAP, TransferFlaws::lookFirst)))
            .breaksUnderLoad("TRANSFER-11"),
        of(
            "an adoption goes on with the transferred token",
            Set.of("TRANSFER-5", "TRANSFER-6"),
            (members, clock, timeouts) ->
                new TransferringRedlock(members, clock, timeouts) {
                  @Override
                  String adoptedToken(Adoption adoption) {
                    return adoption.transferredToken();
                  }
                }),
        of(
            "the validity of an adoption counts from the reply",
            Set.of("TRANSFER-6"),
            (members, clock, timeouts) ->
                new TransferringRedlock(members, clock, timeouts) {
                  @Override
                  ClockReading adoptedUntil(ClockReading start, Duration ttl) {
                    return super.adoptedUntil(clock().now(), ttl);
                  }
                }),
        of(
            "an adoption that fails leaves its own token",
            Set.of("TRANSFER-7"),
            (members, clock, timeouts) ->
                new TransferringRedlock(members, clock, timeouts) {
                  @Override
                  CompletableFuture<Votes> releaseOwnAttempt(
                      Held held, Votes votes, Timeouts limit) {
                    return CompletableFuture.completedFuture(votes);
                  }
                }),
        of(
                "an adoption that fails leaves the transferred token",
                Set.of("TRANSFER-7"),
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      void endTransfer(Adoption adoption, Timeouts limit) {
                        // it is left to expire
                      }
                    })
            .asVariation(),
        inReason("an adoption that fails is always told REMOVED", LossReason.REMOVED),
        inReason("an adoption that fails is always told TAKEN", LossReason.TAKEN).asVariation(),
        of(
                "an adoption that no quorum answered is a loss",
                Set.of("TRANSFER-8"),
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      Outcome notAdopted(Held held, Votes votes) {
                        return new Lost(reason(votes));
                      }
                    })
            .asVariation(),
        inManager("a damaged text is told as a loss", Set.of("TRANSFER-9"), Unreading::new),
        inLease(
                "the text of a transfer is logged for debugging",
                Set.of("TRANSFER-10"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public String transfer(Duration within) {
                        String text = super.transfer(within);
                        System.getLogger(LockManager.class.getName())
                            .log(System.Logger.Level.DEBUG, name() + " goes on as " + text);
                        return text;
                      }
                    })
            .asVariation(),
        inManager("the text of an adoption is logged", Set.of("TRANSFER-10"), Logging::new),
        inLease(
                "the token of an extension in an outage is logged for debugging",
                Set.of("TRANSFER-10"),
                LoggingOutages::new)
            .asVariation(),
        inLease(
                "requireHeld takes an asynchronous transfer for a loss",
                Set.of("TRANSFER-2"),
                LosingByTransfer::new)
            .asVariation(),
        Flaw.of(
            "the reason of a connection that ended repeats the request",
            Set.of("TRANSFER-10"),
            Parts.TRANSFERRING.withConnections(
                (uri, way, network) ->
                    new Member(uri, way, network) {
                      @Override
                      void toUnanswered(Request request, Consumer<Object> answer) {
                        answer.accept(
                            new NodeError(Kind.DISCONNECTED, request.text() + " was unanswered"));
                      }
                    })),
        inManager(
                "cancelling an asynchronous adoption is noticed by nobody",
                Set.of("TRANSFER-11"),
                Copying::new)
            .asVariation(),
        inLease(
            "cancelling an asynchronous transfer is noticed by nobody",
            Set.of("TRANSFER-11"),
            right ->
                new PassingLease(right) {
                  @Override
                  public CompletableFuture<String> transferAsync(Duration within) {
                    return super.transferAsync(within).thenApply(text -> text);
                  }
                }),
        inLease(
            "a transfer extends nothing",
            Set.of("TRANSFER-1"),
            right ->
                new PassingLease(right) {
                  @Override
                  public String transfer(Duration within) {
                    Duration left = remaining();
                    return super.transfer(left.compareTo(SHORT) < 0 ? SHORT : left);
                  }
                }),
        inLease(
                "a transfer asks for more time than the holder did",
                Set.of("TRANSFER-1"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public String transfer(Duration within) {
                        Duration more = within.multipliedBy(10);
                        return super.transfer(more.compareTo(LONG) > 0 ? LONG : more);
                      }
                    })
            .asVariation(),
        of(
                "a transfer sets the time that it asks for, even if more is left",
                Set.of("TRANSFER-1"),
                Shortening::new)
            .asVariation(),
        inLease("a transferred lease is still held", Set.of("TRANSFER-2"), GoesOn::new),
        inManager(
                "the end of a transferred lease frees the lock",
                Set.of("TRANSFER-2"),
                Releasing::new)
            .asVariation(),
        inManager("a transfer is reported as a release", Set.of("LISTEN-2"), ReportingReleases::new)
            .asVariation(),
        inLease(
            "a transfer that no quorum answers ends the lease",
            Set.of("TRANSFER-3"),
            right ->
                new PassingLease(right) {
                  @Override
                  public String transfer(Duration within) {
                    try {
                      return super.transfer(within);
                    } catch (LockOutageException e) {
                      super.releaseAsync();
                      throw e;
                    }
                  }
                }),
        inLease(
                "a lost lease gives a text",
                Set.of("TRANSFER-3"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public String transfer(Duration within) {
                        try {
                          return super.transfer(within);
                        } catch (LockLostException e) {
                          return "holdfast1-" + e.reason();
                        }
                      }
                    })
            .asVariation());
  }

  private static Flaw of(String mistake, Set<String> rules, Parts.Primitives primitives) {
    return Flaw.of(mistake, rules, Parts.RIGHT.withPrimitives(primitives));
  }

  private static Flaw inManager(
      String mistake, Set<String> rules, UnaryOperator<LockManager> manager) {
    return Flaw.of(
        mistake, rules, Parts.TRANSFERRING.withManagers(right -> manager.apply(right.get())));
  }

  private static Flaw inLease(String mistake, Set<String> rules, UnaryOperator<Lease> lease) {
    return inManager(mistake, rules, right -> PassingManager.withLeases(right, lease));
  }

  private static Flaw inSwap(
      String mistake, Set<String> rules, BiFunction<Adoption, String, Request> swap) {
    return of(
        mistake,
        rules,
        (members, clock, timeouts) ->
            new TransferringRedlock(members, clock, timeouts) {
              @Override
              Request swap(Adoption adoption, String token) {
                return swap.apply(adoption, token);
              }
            });
  }

  private static Flaw inReason(String mistake, LossReason reason) {
    return of(
        mistake,
        Set.of("TRANSFER-8"),
        (members, clock, timeouts) ->
            new TransferringRedlock(members, clock, timeouts) {
              @Override
              LossReason reason(Votes votes) {
                return reason;
              }
            });
  }

  /** Replaces the token, unless there is a reason not to. */
  private static Request replacing(
      Adoption adoption, String token, Function<FakeKeys, @Nullable Answer> refusal) {
    String name = adoption.attempt().name();
    Duration ttl = adoption.attempt().ttl();
    return Request.of(
        Verb.SWAP,
        name,
        token + " " + ttl.toNanos(),
        keys -> {
          Answer refused = refusal.apply(keys);
          if (refused == null) {
            keys.put(name, token, ttl);
          }
          return refused == null ? Answer.MINE : refused;
        });
  }

  private static @Nullable Answer unlessFree(FakeKeys keys, Adoption adoption) {
    Answer answer = Request.compared(keys, adoption.attempt().name(), adoption.transferredToken());
    return answer == Answer.MISSING || answer == Answer.MINE ? null : answer;
  }

  private static Request keepingTheTime(Adoption adoption, String token) {
    String name = adoption.attempt().name();
    return Request.of(
        Verb.SWAP,
        name,
        token,
        keys -> {
          Answer answer = Request.compared(keys, name, adoption.transferredToken());
          if (answer == Answer.MINE) {
            keys.put(name, token, keys.left(name));
          }
          return answer;
        });
  }

  /** Compares in the first step, and replaces in the second. */
  private static Object lookFirst(FakeKeys keys, String name, String tokens, Duration ttl) {
    int space = tokens.lastIndexOf(' ');
    Answer answer = Request.compared(keys, name, tokens.substring(0, space));
    String token = tokens.substring(space + 1);
    return answer == Answer.MINE
        ? (TwoSteps.Second)
            now -> {
              now.put(name, token, ttl);
              return Answer.MINE;
            }
        : answer;
  }

  /** Tells listeners of a release instead of a transfer. */
  private static final class ReportingReleases extends PassingManager {
    ReportingReleases(LockManager right) {
      super(right);
    }

    @Override
    public LockListener.Registration addListener(LockListener listener) {
      return right.addListener(
          new PassingListener(listener) {
            @Override
            public void onTransferred(String name, long leaseId, long held) {
              onReleased(name, leaseId, held, true);
            }
          });
    }
  }

  /** Extends without a look at the time that is left, for transfers alone. */
  private static final class Shortening extends TransferringRedlock {
    private final ThreadLocal<Boolean> transfers = ThreadLocal.withInitial(() -> false);

    Shortening(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    public CompletableFuture<Extension> extendForTransfer(Grant grant, Duration within) {
      transfers.set(true);
      try {
        return extend(grant, within);
      } finally {
        transfers.remove();
      }
    }

    @Override
    Request extension(Held held, Duration ttl) {
      Request right = super.extension(held, ttl);
      return !transfers.get()
          ? right
          : Request.of(
              Verb.EXTEND,
              held.name(),
              held.token() + " " + ttl,
              keys -> {
                Object answer = right.work().apply(keys);
                if (answer == Answer.MINE) {
                  keys.expire(held.name(), ttl);
                }
                return answer;
              });
    }
  }

  private static final class LoggingOutages extends PassingLease {
    private static final System.Logger LOG = System.getLogger(LoggingOutages.class.getName());

    LoggingOutages(Lease right) {
      super(right);
    }

    @Override
    public void extend(Duration ttl) {
      try {
        super.extend(ttl);
      } catch (LockOutageException e) {
        LOG.log(System.Logger.Level.DEBUG, "{0} was not extended", token());
        throw e;
      }
    }
  }

  private static final class LosingByTransfer extends PassingLease {
    private volatile boolean transferred;

    LosingByTransfer(Lease right) {
      super(right);
    }

    @Override
    public CompletableFuture<String> transferAsync(Duration within) {
      transferred = true;
      return super.transferAsync(within);
    }

    @Override
    public void requireHeld() {
      if (transferred && !isHeld()) {
        throw new LockLostException(name(), LossReason.EXPIRED);
      }
      super.requireHeld();
    }
  }

  /** Is held after its transfer, too. */
  private static final class GoesOn extends PassingLease {
    private volatile boolean transferred;

    GoesOn(Lease right) {
      super(right);
    }

    @Override
    public String transfer(Duration within) {
      String text = super.transfer(within);
      transferred = true;
      return text;
    }

    @Override
    public boolean isHeld() {
      return transferred || super.isHeld();
    }
  }

  /** Removes the lock at the end of its leases, also of a lease that was transferred. */
  private static final class Releasing extends PassingManager {
    Releasing(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        private volatile boolean transferred;

        @Override
        public String transfer(Duration within) {
          String text = super.transfer(within);
          transferred = true;
          return text;
        }

        @Override
        public void close() {
          super.close();
          if (transferred) {
            Releasing.this.forceRelease(name());
          }
        }
      };
    }
  }

  private static final class Unreading extends PassingManager {
    Unreading(LockManager right) {
      super(right);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      try {
        return super.adopt(text, request);
      } catch (LockConfigurationException e) {
        throw new LockLostException(request.name(), LossReason.REMOVED, e);
      }
    }
  }

  private static final class Logging extends PassingManager {
    private static final System.Logger LOG = System.getLogger(Logging.class.getName());

    Logging(LockManager right) {
      super(right);
    }

    @Override
    public Lease adopt(String text, LockRequest request) {
      LOG.log(System.Logger.Level.INFO, "adopts {0} by {1}", request.name(), text);
      return super.adopt(text, request);
    }
  }

  private static final class Copying extends PassingManager {
    Copying(LockManager right) {
      super(right);
    }

    @Override
    public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
      return super.adoptAsync(text, request).thenApply(lease -> lease);
    }
  }
}
