package dev.holdfast.redlock;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A driver that leaves all to another. */
class PassingNodes implements RedisNodes {
  final RedisNodes nodes;

  PassingNodes(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Override
  public List<String> addresses() {
    return nodes.addresses();
  }

  @Override
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    return nodes.connect(node, disconnected);
  }

  @Override
  public void disconnect(int node) {
    nodes.disconnect(node);
  }

  @Override
  public void submit(Round round) {
    nodes.submit(round);
  }

  @Override
  public Ear listen(int node, String channel, Heard heard, Runnable ended) {
    return nodes.listen(node, channel, heard, ended);
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

  /** The same question for one node, whose answers go elsewhere. */
  static Round ask(Round round, int node, Round.Answers answers) {
    return new Round(round.command(), 1L << node, round.callerWaits(), answers);
  }

  /** Answers that go where those of a round go, unless a method is overridden. */
  static class PassingAnswers implements Round.Answers {
    final Round round;

    PassingAnswers(Round round) {
      this.round = round;
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      round.reply(node, reply);
    }

    @Override
    public void error(int node, String error) {
      round.error(node, error);
    }

    @Override
    public void failure(int node, Throwable cause) {
      round.failure(node, cause);
    }

    @Override
    public boolean decided() {
      return round.decided();
    }
  }
}
