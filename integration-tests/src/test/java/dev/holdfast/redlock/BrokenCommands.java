package dev.holdfast.redlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Drivers that send a command too early, too late, twice, changed or not at all. */
final class BrokenCommands {
  private BrokenCommands() {}

  static final class TwoConnections extends PassingNodes {
    private final RedisNodes forReleases;

    TwoConnections(RedisNodes nodes, RedisNodes forReleases) {
      super(nodes);
      this.forReleases = forReleases;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return forReleases
          .first()
          .connect(node, () -> first.disconnect(node))
          .thenCompose(done -> first.connect(node, disconnected));
    }

    @Override
    public void disconnect(int node) {
      forReleases.first().disconnect(node);
      first.disconnect(node);
    }

    @Override
    public void submit(Round round) {
      (isScript(round, Scripts.RELEASE) ? forReleases.first() : first).submit(round);
    }

    @Override
    public void close() {
      forReleases.close();
      nodes.close();
    }
  }

  /** Sends a command that a node was too busy for once more, whatever has been sent since. */
  static final class SendingAgain extends PassingNodes {
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS);

    SendingAgain(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      first.submit(
          ask(
              round,
              new PassingAnswers(round) {
                @Override
                public void error(int node, String error) {
                  super.error(node, error);
                  if (error.matches("(BUSY|LOADING) .*")) {
                    LATER.execute(
                        () -> first.submit(ask(round, node, new Replaying.Nowhere(round))));
                  }
                }
              }));
    }
  }

  /** Sends commands that were unanswered once more on the next connection. */
  static final class Replaying extends PassingNodes {
    private final Map<Integer, Queue<Round>> unanswered = new ConcurrentHashMap<>();

    Replaying(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .thenAccept(
              done -> {
                Queue<Round> again = unanswered.remove(node);
                if (again != null) {
                  again.forEach(round -> first.submit(ask(round, node, new Nowhere(round))));
                }
              });
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Queue<Round> waiting =
                unanswered.computeIfAbsent(node, n -> new ConcurrentLinkedQueue<>());
            waiting.add(round);
            first.submit(ask(round, node, new Remembered(round, waiting)));
          });
    }

    /** Keeps what failed, to send it again. */
    private static final class Remembered extends PassingAnswers {
      private final Queue<Round> waiting;

      Remembered(Round round, Queue<Round> waiting) {
        super(round);
        this.waiting = waiting;
      }

      @Override
      void answered(Consumer<Round> answer) {
        waiting.remove(round);
        super.answered(answer);
      }

      @Override
      public void failure(int node, Throwable cause) {
        round.failure(node, cause);
      }
    }

    private static final class Nowhere extends PassingAnswers {
      Nowhere(Round round) {
        super(round);
      }

      @Override
      void answered(Consumer<Round> answer) {}
    }
  }

  static final class Blocking extends PassingNodes {
    private static final long LIMIT_MILLIS = 1_000;

    Blocking(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    @SuppressWarnings("ResultOfMethodCallIgnored") // it goes on after the limit
    public void submit(Round round) {
      List<CountDownLatch> answered = new ArrayList<>();
      round.forEachNode(
          node -> {
            CountDownLatch latch = new CountDownLatch(1);
            answered.add(latch);
            first.submit(ask(round, node, PassingAnswers.before(round, latch::countDown)));
          });
      try {
        for (CountDownLatch latch : answered) {
          latch.await(LIMIT_MILLIS, TimeUnit.MILLISECONDS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Needs room where a node has not answered many commands. */
  static final class Bounded extends PassingNodes {
    private final int room;
    private final long waitMillis;
    private final boolean refuses;
    private final Map<Integer, Semaphore> rooms = new ConcurrentHashMap<>();

    /** Makes one that waits for room, and then fails the command, or sends it after all. */
    Bounded(RedisNodes nodes, int room, long waitMillis, boolean refuses) {
      super(nodes);
      this.room = room;
      this.waitMillis = waitMillis;
      this.refuses = refuses;
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Semaphore ofNode = rooms.computeIfAbsent(node, n -> new Semaphore(room));
            boolean isTaken = isTaken(ofNode);
            if (!isTaken && refuses) {
              round.failure(node, new IOException("too many commands"));
            } else {
              Runnable after = isTaken ? ofNode::release : () -> {};
              first.submit(ask(round, node, PassingAnswers.before(round, after)));
            }
          });
    }

    private boolean isTaken(Semaphore ofNode) {
      if (waitMillis == 0) {
        return ofNode.tryAcquire(); // also on a thread that is interrupted
      }
      try {
        return ofNode.tryAcquire(waitMillis, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
  }

  /** Has a buffer of 256 bytes for each argument that is no key. */
  static final class Cutting extends PassingNodes {
    private static final int MAX_BYTES = 256;

    Cutting(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      first.submit(new Round(cut(round.command()), round.nodes(), new PassingAnswers(round)));
    }

    private static Command cut(Command command) {
      if (command instanceof Command.SetIfAbsent set) {
        return new Command.SetIfAbsent(set.key(), cut(set.value()), set.ttlMillis());
      }
      if (command instanceof Command.Eval eval) {
        List<String> arguments = eval.arguments().stream().map(Cutting::cut).toList();
        return new Command.Eval(eval.script(), eval.withSource(), eval.keys(), arguments);
      }
      return command;
    }

    /** Cuts no character in two, because the text would change then. */
    private static String cut(String argument) {
      String text = argument;
      while (text.getBytes(UTF_8).length > MAX_BYTES) {
        text = text.substring(0, text.length() - 1);
      }
      return text;
    }
  }

  static final class OneAfterTheOther extends PassingNodes {
    private final Map<Integer, CompletableFuture<Void>> extensions = new ConcurrentHashMap<>();

    OneAfterTheOther(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      if (isExtension(round)) {
        round.forEachNode(
            node -> {
              CompletableFuture<Void> answered = new CompletableFuture<>();
              extensions.put(node, answered);
              first.submit(
                  ask(round, node, PassingAnswers.after(round, () -> answered.complete(null))));
            });
      } else if (isScript(round, Scripts.RELEASE)) {
        round.forEachNode(
            node ->
                extensions
                    .getOrDefault(node, CompletableFuture.completedFuture(null))
                    .thenRun(() -> first.submit(ask(round, node, new PassingAnswers(round)))));
      } else {
        first.submit(round);
      }
    }
  }

  static final class InSeconds extends PassingNodes {
    InSeconds(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      if (round.command() instanceof Command.SetIfAbsent set) {
        String seconds = Long.toString((set.ttlMillis() + 999) / 1_000);
        Command rounded =
            new Command.Plain(List.of("SET", set.key(), set.value(), "NX", "EX", seconds));
        first.submit(new Round(rounded, round.nodes(), new PassingAnswers(round)));
      } else {
        first.submit(round);
      }
    }
  }

  /** Asks the last node a little later, if it is still of use then. */
  static final class Dropping extends PassingNodes {
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);

    Dropping(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      int last = addresses().size() - 1;
      round.forEachNode(
          node -> {
            Round ofNode = ask(round, node, new PassingAnswers(round));
            if (node != last) {
              first.submit(ofNode);
            } else {
              LATER.execute(
                  () -> {
                    if (!round.isDecided()) {
                      first.submit(ofNode);
                    }
                  });
            }
          });
    }
  }

  /** Sends what only reads on the first connection, also if a transaction depends on it. */
  static final class WatchingElsewhere extends PassingNodes {
    WatchingElsewhere(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public RedisConnections second() {
      return new PassingNodes(nodes, nodes.second()) {
        @Override
        public void submit(Round round) {
          boolean watches = round.command().words().get(0).equals("WATCH");
          (watches ? WatchingElsewhere.this.first : first).submit(round);
        }
      };
    }
  }
}
