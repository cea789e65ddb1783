package dev.holdfast.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.internal.nodes.NodeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A pipeline whose writer only records, and whose executor runs when the test says so. */
class CommandPipelineTest {
  private static final int NODE = 3;
  private final IllegalStateException broken = new IllegalStateException("broken");

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<List<Round>> written = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final List<Throwable> failures = new ArrayList<>();
  private boolean rejects;
  private int numbered;

  private final CommandPipeline<Round> pipeline =
      new CommandPipeline<>(NODE, round -> round, this::execute, written::add);

  @Test
  void commandsThatAreAddedTogetherAreWrittenTogether() {
    pipeline.open();
    Round first = add();
    pipeline.flush();
    Round second = add();
    pipeline.flush();
    assertThat(tasks).hasSize(1);
    runTasks();
    assertThat(written).containsExactly(List.of(first, second));
    pipeline.flush();
    runTasks();

    assertThat(written).hasSize(1);
    assertThat(answers).isEmpty();
  }

  @Test
  void eachCommandIsAnsweredOnce() {
    pipeline.open();
    List<Round> rounds = List.of(add(), add(), add());
    pipeline.flushNow();
    assertThat(pipeline.next()).isSameAs(rounds.get(0));
    pipeline.onReply(rounds.get(0), "OK");
    pipeline.onReply(rounds.get(0), "OK");
    pipeline.onError(rounds.get(1), "ERR");
    pipeline.onError(rounds.get(1), "ERR");
    pipeline.onFailure(rounds.get(2), broken);
    pipeline.onFailure(rounds.get(2), broken);

    assertThat(answers).containsExactly("0 OK", "1 ERR", "2 broken");
    assertThat(pipeline.next()).isNull();
  }

  @Test
  void aThousandCommandsAreWrittenBeforeTheFirstIsAnswered() {
    pipeline.open();
    List<Round> rounds = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      rounds.add(add());
    }
    pipeline.flush();
    runTasks();
    assertThat(writtenRounds()).isEqualTo(rounds.subList(0, 1_000));
    pipeline.onReply(rounds.get(0), "OK");
    pipeline.onError(rounds.get(1), "ERR");
    runTasks();
    assertThat(writtenRounds()).isEqualTo(rounds.subList(0, 1_002));
    pipeline.onFailure(rounds.get(2), broken);
    runTasks();

    assertThat(writtenRounds()).isEqualTo(rounds.subList(0, 1_003));
  }

  @Test
  void commandsFailBeforeThePipelineIsOpenAndAfterItWasStopped() {
    add();
    assertThat(answers).isEmpty();
    pipeline.flush();
    assertThat(answers).containsExactly("0 not connected");
    pipeline.open();
    Round sent = add();
    pipeline.flushNow();
    pipeline.stop();
    add();
    pipeline.flushNow();
    pipeline.open();
    add();
    pipeline.flush();
    pipeline.onReply(sent, "OK");

    assertThat(answers)
        .containsExactly("0 not connected", "2 not connected", "3 not connected", "1 OK");
    assertThat(tasks).isEmpty();
  }

  @Test
  void whatIsNotSentFailsAsADriversCommandDoesSoThatTheConnectionEnds() {
    add();
    pipeline.flush();

    assertThat(failures).singleElement().isNotInstanceOf(NodeException.class);
  }

  @Test
  void theEndFailsAllInOrderAndInTurns() {
    pipeline.open();
    for (int i = 0; i < 1_100; i++) {
      add();
    }
    pipeline.flushNow();
    pipeline.end(broken, () -> answers.add("ended"));
    assertThat(answers).isEmpty();
    tasks.remove().run();
    assertThat(answers).hasSize(250);
    runTasks();

    assertThat(answers).hasSize(1_101).startsWith("0 broken", "1 broken").endsWith("ended");
    assertThat(answers.get(1_099)).isEqualTo("1099 broken");
  }

  @Test
  void anExecutorThatIsNoMoreEndsThePipeline() {
    pipeline.open();
    add();
    rejects = true;
    pipeline.flush();
    add();
    pipeline.flush();
    pipeline.end(broken, () -> answers.add("ended"));

    assertThat(answers).containsExactly("0 not connected", "1 not connected", "ended");
    assertThat(written).isEmpty();
  }

  private Round add() {
    Round round = new Round(new Command.Info(), NodeSet.of(NODE), new Recorded(numbered++));
    pipeline.add(round);
    return round;
  }

  private List<Round> writtenRounds() {
    return written.stream().flatMap(List::stream).toList();
  }

  private void execute(Runnable task) {
    if (rejects) {
      throw new RejectedExecutionException();
    }
    tasks.add(task);
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  /** Notes each answer with the number of its round. */
  private final class Recorded implements Round.Answers {
    private final int number;

    Recorded(int number) {
      this.number = number;
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      note(node, String.valueOf(reply));
    }

    @Override
    public void error(int node, String error) {
      note(node, error);
    }

    @Override
    public void failure(int node, Throwable cause) {
      failures.add(cause);
      note(node, String.valueOf(cause.getMessage()));
    }

    private void note(int node, String answer) {
      assertThat(node).isEqualTo(NODE);
      answers.add(number + " " + answer);
    }

    @Override
    public boolean decided() {
      return false;
    }
  }
}
