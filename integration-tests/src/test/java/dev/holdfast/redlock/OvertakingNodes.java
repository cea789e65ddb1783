package dev.holdfast.redlock;

import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Drivers that send the commands of one connection in another order. */
final class OvertakingNodes {
  private OvertakingNodes() {}

  /** Waits for each answer before it sends what waits for its turn, releases first. */
  static final class ReleasesFirst extends PassingNodes {
    private final Map<Integer, Turns> turns = new ConcurrentHashMap<>();

    ReleasesFirst(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Turns ofNode = turns.computeIfAbsent(node, n -> new Turns());
            ofNode.add(
                isScript(round, Scripts.RELEASE),
                () -> first.submit(ask(round, node, PassingAnswers.before(round, ofNode::ended))));
          });
    }

    /** The commands of one node that wait. */
    private static final class Turns {
      private final Deque<Runnable> waiting = new ArrayDeque<>();
      private boolean isBusy;

      void add(boolean isFirst, Runnable turn) {
        synchronized (this) {
          if (isBusy) {
            if (isFirst) {
              waiting.addFirst(turn);
            } else {
              waiting.addLast(turn);
            }
            return;
          }
          isBusy = true;
        }
        turn.run();
      }

      void ended() {
        Runnable next;
        synchronized (this) {
          next = waiting.poll();
          isBusy = next != null;
        }
        if (next != null) {
          next.run();
        }
      }
    }
  }

  /**
   * Sends commands with the source of a script from a queue of their own, which takes its time. The
   * source of a release is short.
   */
  static final class LargeLater extends PassingNodes {
    private static final Executor QUEUE =
        CompletableFuture.delayedExecutor(30, TimeUnit.MILLISECONDS);

    LargeLater(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      if (round.command() instanceof Command.Eval eval
          && eval.withSource()
          && !isScript(round, Scripts.RELEASE)) {
        QUEUE.execute(() -> first.submit(round));
      } else {
        first.submit(round);
      }
    }
  }

  /** Has no order at all: each command is sent by the thread that comes first. */
  static final class Unordered extends PassingNodes {
    private static final long MAX_DELAY_MICROS = 3_000;

    Unordered(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> later().execute(() -> first.submit(ask(round, node, new PassingAnswers(round)))));
    }

    private static Executor later() {
      return CompletableFuture.delayedExecutor(
          ThreadLocalRandom.current().nextLong(MAX_DELAY_MICROS), TimeUnit.MICROSECONDS);
    }
  }
}
