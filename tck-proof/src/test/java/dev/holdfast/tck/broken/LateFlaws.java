package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.Request.Verb;
import dev.holdfast.tck.broken.Way.Examined;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** Replies are taken for others', and requests overtake each other. */
final class LateFlaws {
  private static final long MAX_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

  private LateFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.of(
            "a request is forgotten once its round is decided, and its reply is the next one's",
            Set.of("ERR-6", "ACQ-2", "EXT-1", "REL-3", "REL-9"),
            Parts.RIGHT.withConnections(Forgetful::new).withRounds(ForgettingRounds::new)),
        Flaw.inMember(
            "locks are given back by a connection of their own",
            Set.of("ACQ-3", "REL-2", "REL-6", "REL-9"),
            (uri, way, network) -> new TwoConnections(uri, way, network, Verb.RELEASE)),
        Flaw.inMember(
                "locks are extended by a connection of their own",
                Set.of("REL-9"),
                (uri, way, network) -> new TwoConnections(uri, way, network, Verb.EXTEND))
            .asVariation(),
        Flaw.inManager(
                "a lease that is over, by a release or not, ends the lock at the end of its ttl",
                Set.of("ACQ-1"),
                EndsTheNext::new)
            .asVariation(),
        Flaw.inMember(
            "a connection takes one request at a time, and releases first",
            Set.of("ACQ-3", "REL-2", "REL-9"),
            ReleasesFirst::new),
        Flaw.inMember(
                "each request is sent by a thread of its own",
                Set.of("REL-2", "REL-9"),
                (uri, way, network) ->
                    new Member(uri, way, network) {
                      @Override
                      void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
                        network.schedule(
                            ThreadLocalRandom.current().nextLong(MAX_DELAY_NANOS),
                            () -> super.ask(request, wanted, answer));
                      }
                    })
            .breaksUnderLoad("ACQ-3")
            .asVariation());
  }

  private static final class EndsTheNext extends PassingManager {
    EndsTheNext(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      String name = granted.name();
      WeakReference<Lease> ended = new WeakReference<>(granted);
      CompletableFuture.delayedExecutor(
              granted.remaining().toNanos(), TimeUnit.NANOSECONDS, NewThreads.EXECUTOR)
          .execute(
              () -> {
                Lease lease = ended.get();
                if (lease != null && !lease.isHeld()) {
                  right.forceRelease(name);
                }
              });
      return granted;
    }
  }

  /** Loses the place of a request that no caller waits for. */
  private static final class Forgetful extends Member {
    private final RepliesInOrder replies;

    Forgetful(String uri, Way way, Scheduler network) {
      this(uri, new RepliesInOrder(way), network);
    }

    private Forgetful(String uri, RepliesInOrder replies, Scheduler network) {
      super(uri, replies, network);
      this.replies = replies;
    }

    RepliesInOrder replies() {
      return replies;
    }
  }

  private static final class ForgettingRounds extends Members {
    ForgettingRounds(List<Member> all, Scheduler network, Duration connectTimeout) {
      super(all, network, connectTimeout);
    }

    @Override
    CompletableFuture<Votes> ask(Poll poll) {
      return super.ask(poll)
          .whenComplete(
              (votes, failure) ->
                  poll.nodes()
                      .forEach(node -> ((Forgetful) node).replies().forget(poll.request())));
    }
  }

  /** Waits for each answer before it sends what waits for its turn, in an order of its own. */
  private static final class ReleasesFirst extends Member {
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean isBusy;

    ReleasesFirst(String uri, Way way, Scheduler network) {
      super(uri, way, network);
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      Runnable turn =
          () -> {
            isBusy = true;
            super.ask(request, wanted, reply -> answered(answer, reply));
          };
      if (!isBusy) {
        turn.run();
      } else if (request.verb() == Verb.RELEASE) {
        waiting.addFirst(turn);
      } else {
        waiting.addLast(turn);
      }
    }

    @Override
    void toUnknown(Request request, Consumer<Object> answer) {
      super.ask(request.sourced(), () -> true, answer);
    }

    private void answered(Consumer<Object> answer, Object reply) {
      isBusy = false;
      Runnable next = waiting.poll();
      if (next != null) {
        next.run();
      }
      answer.accept(reply);
    }
  }

  /** Has one more connection to its node, for one kind of request. */
  private static final class TwoConnections extends Member {
    private final Member second;
    private final Verb verb;

    TwoConnections(String uri, Way way, Scheduler network, Verb verb) {
      super(uri, way, network);
      this.second = new Member(uri, way, network);
      this.verb = verb;
    }

    @Override
    void open(Function<Examined, String> examiner, Runnable settled) {
      second.open(examiner, () -> {});
      super.open(examiner, settled);
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      if (request.verb() == verb) {
        second.ask(request, wanted, answer);
      } else {
        super.ask(request, wanted, answer);
      }
    }

    @Override
    void close() {
      second.close();
      super.close();
    }
  }
}
