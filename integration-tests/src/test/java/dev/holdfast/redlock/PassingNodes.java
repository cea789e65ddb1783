package dev.holdfast.redlock;

import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.redlock.spi.Subscription;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Leaves all to another driver. */
class PassingNodes implements RedisNodes, RedisConnections {
  final RedisNodes nodes;
  final RedisConnections first;

  PassingNodes(RedisNodes nodes) {
    this(nodes, nodes.first());
  }

  /** Leaves commands to these connections of the other driver. */
  PassingNodes(RedisNodes nodes, RedisConnections first) {
    this.nodes = nodes;
    this.first = first;
  }

  /** Returns nodes that are asked the same, and whose answers go through these. */
  static PassingNodes answering(RedisNodes nodes, Function<Round, PassingAnswers> answers) {
    return new PassingNodes(nodes) {
      @Override
      public void submit(Round round) {
        first.submit(ask(round, answers.apply(round)));
      }
    };
  }

  @Override
  public List<String> addresses() {
    return nodes.addresses();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    return first.connect(node, disconnected);
  }

  @Override
  public void disconnect(int node) {
    first.disconnect(node);
  }

  @Override
  public void submit(Round round) {
    first.submit(round);
  }

  @Override
  public RedisConnections first() {
    return this;
  }

  @Override
  public RedisConnections second() {
    return nodes.second();
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    nodes.subscribe(node, subscription);
  }

  @Override
  public void close() {
    nodes.close();
  }

  static boolean isScript(Round round, Script script) {
    return round.command() instanceof Command.Eval eval && eval.script().equals(script);
  }

  static boolean isExtension(Round round) {
    return round.command() instanceof Command.Eval eval && Scripts.EXTEND.is(eval.script());
  }

  /** Asks the same nodes the same, and takes the answers elsewhere. */
  static Round ask(Round round, Round.Answers answers) {
    return new Round(round.command(), round.nodes(), answers);
  }

  /** Asks one node the same, and takes the answers elsewhere. */
  static Round ask(Round round, int node, Round.Answers answers) {
    return new Round(round.command(), NodeSet.of(node), answers);
  }

  /** Passes answers on to those who asked. */
  static class PassingAnswers implements Round.Answers {
    final Round round;

    PassingAnswers(Round round) {
      this.round = round;
    }

    /** Returns answers that run an action before they are passed on. */
    static PassingAnswers before(Round round, Runnable action) {
      return new PassingAnswers(round) {
        @Override
        void answered(Consumer<Round> answer) {
          action.run();
          super.answered(answer);
        }
      };
    }

    /** Returns answers that run an action after they are passed on. */
    static PassingAnswers after(Round round, Runnable action) {
      return new PassingAnswers(round) {
        @Override
        void answered(Consumer<Round> answer) {
          super.answered(answer);
          action.run();
        }
      };
    }

    /** Takes an answer of any kind, which tells itself to a round. */
    void answered(Consumer<Round> answer) {
      answer.accept(round);
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      answered(to -> to.reply(node, reply));
    }

    @Override
    public void error(int node, String error) {
      answered(to -> to.error(node, error));
    }

    @Override
    public void failure(int node, Throwable cause) {
      answered(to -> to.failure(node, cause));
    }

    @Override
    public boolean isDecided() {
      return round.isDecided();
    }
  }
}
