package dev.holdfast.redlock;

import dev.holdfast.redlock.PassingNodes.PassingAnswers;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Drivers that give up a reply, or take it for another one. */
final class BrokenReplies {
  private BrokenReplies() {}

  /**
   * Forgets a round that no caller waits for any more, and keeps the connection. A reply that it
   * reads there later goes to the next command, as with a blocking client that is returned to its
   * pool.
   */
  static final class Forgetful extends PassingNodes {
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private final Map<Integer, Replies> replies = new ConcurrentHashMap<>();

    private record Waiting(Round round, long since) {}

    /** Matches the replies of one connection with its rounds, in their order. */
    private static final class Replies {
      private final Queue<Waiting> waiting = new ArrayDeque<>();
      private final Queue<Consumer<Round>> unread = new ArrayDeque<>();
    }

    Forgetful(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .thenAccept(
              done -> {
                replies.put(node, new Replies());
              });
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(node -> submit(round, node));
    }

    private void submit(Round round, int node) {
      Replies of = replies.computeIfAbsent(node, n -> new Replies());
      long now = System.nanoTime();
      Consumer<Round> unread;
      synchronized (of) {
        of.waiting.removeIf(w -> w.round.isDecided() && now - w.since > PATIENCE.toNanos());
        unread = of.unread.poll();
        if (unread == null) {
          of.waiting.add(new Waiting(round, now));
        }
        first.submit(ask(round, node, new First(round, of)));
      }
      if (unread != null) {
        unread.accept(round);
      }
    }

    /** Gives each answer to the command that has waited longest. */
    private static final class First extends PassingAnswers {
      private final Replies of;

      First(Round round, Replies of) {
        super(round);
        this.of = of;
      }

      @Override
      void answered(Consumer<Round> answer) {
        Waiting first;
        synchronized (of) {
          first = of.waiting.poll();
          if (first == null) {
            of.unread.add(answer);
            return;
          }
        }
        answer.accept(first.round);
      }

      @Override
      public void failure(int node, Throwable cause) {
        synchronized (of) {
          of.waiting.removeIf(waiting -> waiting.round == round);
        }
        round.failure(node, cause);
      }
    }
  }

  static final class Impatient extends PassingNodes {
    private final long limitMillis;

    Impatient(RedisNodes nodes, long limitMillis) {
      super(nodes);
      this.limitMillis = limitMillis;
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Once once = new Once(round);
            first.submit(ask(round, node, once));
            CompletableFuture.delayedExecutor(limitMillis, TimeUnit.MILLISECONDS)
                .execute(
                    () -> {
                      if (!once.answered.get()) {
                        once.failure(node, new IllegalStateException("no answer in time"));
                        first.disconnect(node);
                      }
                    });
          });
    }

    private static final class Once extends PassingAnswers {
      private final AtomicBoolean answered = new AtomicBoolean();

      Once(Round round) {
        super(round);
      }

      @Override
      void answered(Consumer<Round> answer) {
        if (answered.compareAndSet(false, true)) {
          super.answered(answer);
        }
      }
    }
  }

  /** Sends what is for the second connection on the first. */
  static final class OneSlot extends PassingNodes {
    OneSlot(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public RedisConnections second() {
      return new PassingNodes(nodes) {
        @Override
        public CompletableFuture<Void> connect(int node, Runnable disconnected) {
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public void disconnect(int node) {}
      };
    }
  }

  /** Takes texts of digits for numbers. */
  static final class DecodesNumbers extends PassingAnswers {
    DecodesNumbers(Round round) {
      super(round);
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      super.reply(node, decoded(reply));
    }

    private static @Nullable Object decoded(@Nullable Object reply) {
      if (reply instanceof List<?> list) {
        List<@Nullable Object> all = new ArrayList<>();
        list.forEach(each -> all.add(decoded(each)));
        return all;
      }
      return reply instanceof String text && text.matches("-?\\d{1,18}")
          ? (Object) Long.valueOf(text)
          : reply;
    }
  }

  /** Replies to a transaction that was aborted as to one without commands. */
  static final class NilIsDone extends PassingNodes {
    NilIsDone(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      first.submit(
          round.command().words().equals(List.of("EXEC")) ? ask(round, new Done(round)) : round);
    }

    private static final class Done extends PassingAnswers {
      Done(Round round) {
        super(round);
      }

      @Override
      public void reply(int node, @Nullable Object reply) {
        super.reply(node, reply == null ? List.of() : reply);
      }
    }
  }

  /** Reports errors of a node that can serve nothing for some time as a reply without a value. */
  static final class ErrorsAreNil extends PassingAnswers {
    ErrorsAreNil(Round round) {
      super(round);
    }

    @Override
    public void error(int node, String error) {
      if (error.matches("(BUSY|MISCONF|NOREPLICAS) .*")) {
        reply(node, null);
      } else {
        super.error(node, error);
      }
    }
  }

  /**
   * Takes a reply with a character that stands for bytes of no text for the end of a connection.
   */
  static final class TextsAlone extends PassingAnswers {
    TextsAlone(Round round) {
      super(round);
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      if (String.valueOf(reply).indexOf('\ufffd') >= 0) {
        failure(node, new IllegalStateException("malformed input"));
      } else {
        super.reply(node, reply);
      }
    }
  }

  /** Reports that a node became a replica as the end of its connection. */
  static final class ReadonlyIsAnEnd extends PassingAnswers {
    ReadonlyIsAnEnd(Round round) {
      super(round);
    }

    @Override
    public void error(int node, String error) {
      if (error.contains("READONLY")) {
        failure(node, new IllegalStateException("the connection ended"));
      } else {
        super.error(node, error);
      }
    }
  }

  /** Adds the command to errors of a node that can serve nothing for some time. */
  static final class ShowingCommands extends PassingAnswers {
    ShowingCommands(Round round) {
      super(round);
    }

    @Override
    public void error(int node, String error) {
      boolean isShown = error.matches("(OOM|BUSY|MISCONF|LOADING)\\b.*");
      super.error(node, isShown ? error + " in " + shown(round) : error);
    }
  }

  /** Logs each command whose reply takes long. */
  static final class LoggingSlowCommands extends PassingAnswers {
    private static final System.Logger LOG = System.getLogger(LoggingSlowCommands.class.getName());
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long begun = System.nanoTime();

    LoggingSlowCommands(Round round) {
      super(round);
    }

    @Override
    void answered(Consumer<Round> answer) {
      if (System.nanoTime() - begun > SLOW_NANOS) {
        LOG.log(System.Logger.Level.WARNING, "slow: {0}", shown(round));
      }
      super.answered(answer);
    }
  }

  private static String shown(Round round) {
    return round.command() instanceof Command.Eval eval
        ? eval.keys() + " " + eval.arguments()
        : String.join(" ", round.command().words());
  }

  /** Takes a connection on which nothing was sent for some time for one that does not answer. */
  static final class FailsIdle extends PassingNodes {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Map<Integer, Long> used = new ConcurrentHashMap<>();

    FailsIdle(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      used.put(node, System.nanoTime());
      return first.connect(node, disconnected);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            long now = System.nanoTime();
            Long before = used.put(node, now);
            if (before == null || now - before < LIMIT_NANOS) {
              first.submit(ask(round, node, new PassingAnswers(round)));
            } else {
              first.disconnect(node);
              CompletableFuture.runAsync(
                  () -> round.failure(node, new IllegalStateException("Read timed out")));
            }
          });
    }
  }

  /** Completes what is unanswered at the end of a connection without a value. */
  static final class EndsAreNil extends PassingAnswers {
    EndsAreNil(Round round) {
      super(round);
    }

    @Override
    public void failure(int node, Throwable cause) {
      reply(node, null);
    }
  }
}
