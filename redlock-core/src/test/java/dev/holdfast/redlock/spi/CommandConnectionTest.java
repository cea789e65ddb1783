package dev.holdfast.redlock.spi;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.testsupport.FullDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Connections whose writer only records, and whose executor runs when the test says so. */
class CommandConnectionTest {
  private static final int NODE = 1;
  private final IllegalStateException broken = new IllegalStateException("broken");

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final List<List<EncodedRound<String>>> written = new ArrayList<>();
  private final List<String> events = new CopyOnWriteArrayList<>();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final List<CommandConnection<String>> attempts = new ArrayList<>();
  private @Nullable Throwable rejection;
  private @Nullable Throwable fault;
  private boolean receiverThrows;
  private boolean endsWhenClosed = true;
  private Runnable beforeWriting = () -> {};
  private final List<FakeWriter> writers = new ArrayList<>();
  private boolean runsAtOnce;
  private Runnable beforeClosing = () -> {};
  private boolean begins = true;
  private @Nullable Error connectFault;
  private int numbered;

  private final PipelinedNodes<String> nodes =
      new PipelinedNodes<>(
          Stream.of(new FakeNode(), new FakeNode()),
          command -> command.words().get(0),
          () -> events.add("afterClose"));

  @Test
  void commandsThatAreSubmittedTogetherAreWrittenTogether() {
    connect();
    submit();
    submit();
    assertThat(tasks).hasSize(1);
    runTasks();

    assertThat(written).singleElement().satisfies(batch -> assertThat(batch).hasSize(2));
    assertThat(events).isEmpty();
  }

  @Test
  void eachCommandIsAnsweredOnce() {
    CommandConnection<String> connection = connect();
    for (int i = 0; i < 3; i++) {
      submit();
    }
    runTasks();
    List<EncodedRound<String>> rounds = written.get(0);
    assertThat(connection.next()).isSameAs(rounds.get(0));
    for (int time = 0; time < 2; time++) {
      connection.onReply(rounds.get(0), "OK");
      connection.onError(rounds.get(1), "ERR");
      connection.onFailure(rounds.get(2), broken);
    }
    runTasks();

    assertThat(events).containsExactly("0 OK", "1 ERR", "closed", "2 broken", "disconnected");
    assertThat(connection.next()).isNull();
  }

  @Test
  void aThousandCommandsAreWrittenBeforeTheFirstIsAnswered() {
    CommandConnection<String> connection = connect();
    for (int i = 0; i < 1_500; i++) {
      submit();
    }
    runTasks();
    assertThat(writtenRounds()).hasSize(1_000);
    connection.onReply(writtenRounds().get(0), "OK");
    connection.onError(writtenRounds().get(1), "ERR");
    runTasks();

    assertThat(writtenRounds()).hasSize(1_002);
  }

  @Test
  void commandsFailBeforeTheConnectionIsMadeAndAfterItWasDropped() {
    submit();
    CommandConnection<String> connection = connect();
    submit();
    runTasks();
    endsWhenClosed = false;
    nodes.first().disconnect(NODE);
    submit();
    connection.onReply(writtenRounds().get(0), "OK");

    assertThat(events).containsExactly("0 not connected", "closed", "2 not connected", "1 OK");
    assertThat(tasks).isEmpty();
  }

  @Test
  void unsentCommandFailsLikeASentOneAndEndsTheConnection() {
    submit();

    assertThat(failures).singleElement().isNotInstanceOf(NodeException.class);
  }

  @Test
  void endOfTheConnectionFailsAllCommandsInOrder() {
    CommandConnection<String> connection = connect();
    for (int i = 0; i < 1_100; i++) {
      submit();
    }
    runTasks();
    connection.onEnded(broken);
    connection.onEnded(broken);
    assertThat(events).containsExactly("closed");
    tasks.remove().run();
    assertThat(events).hasSize(251);
    runTasks();

    assertThat(events).hasSize(1_102).startsWith("closed", "0 broken", "1 broken");
    assertThat(events).endsWith("1099 broken", "disconnected");
  }

  @Test
  void endIsReportedAfterTheRepliesInFlight() {
    List<BiConsumer<CommandConnection<String>, EncodedRound<String>>> answers =
        List.of(
            (connection, command) -> connection.onReply(command, "OK"),
            (connection, command) -> connection.onError(command, "ERR"),
            (connection, command) -> connection.onFailure(command, broken));
    for (BiConsumer<CommandConnection<String>, EncodedRound<String>> answer : answers) {
      events.clear();
      written.clear();
      CommandConnection<String> connection = connect();
      submit(
          new Recorded(numbered++) {
            @Override
            void note(String text) {
              connection.onEnded(broken); // as another thread does at this time
              runTasks();
              super.note("answered");
            }
          });
      runTasks();
      answer.accept(connection, writtenRounds().get(0));

      assertThat(events).hasSize(3).endsWith(numbered - 1 + " answered", "disconnected");
    }
  }

  @Test
  void executorShutdownEndsTheConnectionAndFailsNothingOnTheSubmittingThread() {
    connect();
    rejection = new RejectedExecutionException("shut down");
    requireThatOtherThreadsFail();
  }

  @Test
  void executorThatCannotStartAThreadEndsTheConnection() {
    connect();
    rejection = new OutOfMemoryError("unable to create native thread");
    requireThatOtherThreadsFail();
  }

  private void requireThatOtherThreadsFail() {
    Thread caller = Thread.currentThread();
    List<Thread> answering = new CopyOnWriteArrayList<>();
    submit(
        new Recorded(numbered++) {
          @Override
          void note(String answer) {
            answering.add(Thread.currentThread());
            super.note(answer);
          }
        });
    soon().until(() -> events.contains("disconnected"));

    assertThat(answering).singleElement().isNotSameAs(caller);
    assertThat(failures).containsExactly(rejection);
    assertThat(written).isEmpty();
    assertThat(submitAndFail()).hasMessage("not connected");
  }

  @Test
  void aWriteThatFailsEndsTheConnection() {
    for (Throwable thrown :
        List.of(broken, new IOException("reset"), new OutOfMemoryError("unable to create"))) {
      events.clear();
      failures.clear();
      connect();
      fault = thrown;
      submit();
      submit();
      runTasks();

      assertThat(failures).containsExactly(thrown, thrown);
      assertThat(events).startsWith("closed").endsWith("disconnected");
      fault = null;
    }
  }

  @Test
  void receiverThatThrowsDelaysNoLaterReply() {
    CommandConnection<String> connection = connect();
    for (int i = 0; i < 3; i++) {
      submit();
    }
    runTasks();
    receiverThrows = true;
    connection.onReply(writtenRounds().get(0), "OK");
    connection.onError(writtenRounds().get(1), "ERR");
    connection.onEnded(broken);
    runTasks();

    assertThat(events).containsExactly("0 OK", "1 ERR", "closed", "2 broken", "disconnected");
  }

  @Test
  void loggerThatThrowsDelaysNoLaterReply() {
    FullDisk.during(Redlock.class, this::receiverThatThrowsDelaysNoLaterReply);
  }

  @Test
  void queuedCommandIsNotWrittenAfterTheConnectionIsDropped() {
    connect();
    submit();
    beforeWriting = () -> nodes.first().disconnect(NODE); // between the task and its first look
    runTasks();

    assertThat(written).isEmpty();
    assertThat(events).containsExactly("closed", "0 closed by the driver", "disconnected");
  }

  @Test
  void closingConnectionIsNotOpenAndItsFailuresAreNotLogged() {
    CommandConnection<String> connection = connect();
    List<Boolean> open = new ArrayList<>();
    beforeClosing = () -> open.add(connection.isOpen());
    nodes.first().disconnect(NODE);

    assertThat(open).containsExactly(false);
  }

  @Test
  void droppedConnectFailsAtOnceAndItsLateConnectionIsClosed() {
    begins = false;
    var attempt = nodes.first().connect(NODE, () -> events.add("disconnected"));
    nodes.first().disconnect(NODE);
    assertThatThrownBy(() -> attempt.get(1, TimeUnit.SECONDS)).hasMessageContaining("dropped");
    CommandConnection<String> connection = attempts.get(0);
    connection.onBegun(new FakeWriter(connection));
    connection.onConnected();

    assertThat(events).containsExactly("closed");
    assertThat(submitAndFail()).hasMessage("not connected");
  }

  @Test
  void aNewerAttemptEndsTheOlderOne() {
    begins = false;
    var older = nodes.first().connect(NODE, () -> events.add("disconnected"));
    var newer = nodes.first().connect(NODE, () -> events.add("disconnected"));
    CommandConnection<String> late = attempts.get(0);
    late.onBegun(new FakeWriter(late));
    late.onConnected();

    assertThat(older).isCompletedExceptionally();
    assertThat(newer).isNotDone();
    assertThat(events).containsExactly("closed");
  }

  @Test
  void connectThatThrowsFails() {
    connectFault = new OutOfMemoryError("unable to create native thread");

    assertThat(nodes.first().connect(NODE, () -> {})).isCompletedExceptionally();
  }

  @Test
  void closingWritesEarlierCommandsAndFailsLaterOnes() throws Exception {
    connect();
    submit();
    Thread closing = new Thread(nodes::close);
    closing.start();
    soon().until(() -> tasks.size() == 2);
    runTasks();
    closing.join(5_000);

    assertThat(written).hasSize(1);
    assertThat(events)
        .containsExactly("closed", "0 closed by the driver", "disconnected", "afterClose");
    assertThat(submitAndFail()).hasMessage("not connected");
    assertThat(nodes.first().connect(NODE, () -> {})).isCompletedExceptionally();
  }

  @Test
  void commandsDroppedByAnExecutorShutdownFail() {
    connect();
    submit();
    long start = System.nanoTime();
    nodes.close(); // no task runs

    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(5));
    assertThat(events).contains("closed", "disconnected", "afterClose");
    assertThat(failures).hasSize(1);
  }

  @Test
  void closingEndsAnOlderConnectionThatDoesNotEndByItself() {
    endsWhenClosed = false;
    connect();
    submit();
    runTasks();
    connect();
    assertThat(events).containsExactly("closed");
    nodes.close();

    assertThat(events).contains("0 the manager was closed");
    assertThat(Collections.frequency(events, "disconnected")).isEqualTo(2);
  }

  @Test
  void aDriverWithoutSubscriptionsEndsThemAtOnce() {
    Subscription subscription = new Subscription("a", (c, m) -> {});
    nodes.subscribe(NODE, subscription);
    long start = System.nanoTime();
    nodes.close();

    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.MILLISECONDS.toNanos(900));
    assertThat(subscription.ended()).isCompleted();
    assertThat(events).containsExactly("afterClose");
  }

  @Test
  void roundSubmittedFromAReplyOvertakesNoEarlierRound() {
    connect(0);
    connect(NODE);
    runsAtOnce = true;
    beforeWriting =
        () -> {
          beforeWriting = () -> {};
          submit("second");
        };
    submit("first");

    assertThat(writtenTo(attempts.get(0))).containsExactlyInAnyOrder("first", "second");
    assertThat(writtenTo(attempts.get(1))).containsExactly("first", "second");
  }

  @Test
  void submittingThreadWritesFewRoundsOfOtherThreads() {
    connect();
    runsAtOnce = true;
    int rounds = 5_000;
    List<Thread> queueing = new CopyOnWriteArrayList<>();
    beforeWriting = // as other threads do all the time
        () -> {
          queueing.add(Thread.currentThread());
          if (queueing.size() < rounds) {
            submit();
          }
        };
    submit();
    soon().until(() -> queueing.size() == rounds);

    assertThat(queueing.get(0)).isSameAs(Thread.currentThread());
    assertThat(queueing.get(rounds - 1)).isNotSameAs(Thread.currentThread());
  }

  private void submit(String word) {
    Command command = new Command.Plain(List.of(word));
    nodes.first().submit(new Round(command, NodeSet.of(0, NODE), new Recorded(numbered++)));
  }

  private List<String> writtenTo(CommandConnection<String> connection) {
    return writers.stream()
        .filter(writer -> writer.connection == connection)
        .flatMap(writer -> writer.words.stream())
        .toList();
  }

  private CommandConnection<String> connect() {
    return connect(NODE);
  }

  private CommandConnection<String> connect(int node) {
    var connected = nodes.first().connect(node, () -> events.add("disconnected"));
    assertThat(connected).isCompleted();
    return attempts.get(attempts.size() - 1);
  }

  private void submit() {
    submit(new Recorded(numbered++));
  }

  private void submit(Recorded answers) {
    nodes.first().submit(new Round(new Command.Info(), NodeSet.of(NODE), answers));
  }

  private Throwable submitAndFail() {
    failures.clear();
    submit();
    assertThat(failures).hasSize(1);
    return failures.get(0);
  }

  private List<EncodedRound<String>> writtenRounds() {
    return written.stream().flatMap(List::stream).toList();
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private final class FakeNode implements RedisNode<String> {
    @Override
    public String address() {
      return "h:1";
    }

    @Override
    public void connect(CommandConnection<String> connection) {
      if (connectFault != null) {
        throw connectFault;
      }
      attempts.add(connection);
      if (begins) {
        connection.onBegun(new FakeWriter(connection));
        connection.onConnected();
      }
    }
  }

  private final class FakeWriter implements CommandWriter<String>, Executor {
    private final CommandConnection<String> connection;
    private final List<String> words = new ArrayList<>();

    FakeWriter(CommandConnection<String> connection) {
      this.connection = connection;
      writers.add(this);
    }

    @Override
    public Executor executor() {
      return this;
    }

    @Override
    public void execute(Runnable task) {
      if (rejection instanceof Error error) {
        throw error;
      }
      if (rejection instanceof RuntimeException rejected) {
        throw rejected;
      }
      tasks.add(
          () -> {
            beforeWriting.run();
            task.run();
          });
      if (runsAtOnce) {
        runTasks();
      }
    }

    @Override
    public void write(List<EncodedRound<String>> commands) throws IOException {
      if (fault instanceof Error error) {
        throw error;
      }
      if (fault instanceof IOException io) {
        throw io;
      }
      if (fault instanceof RuntimeException runtime) {
        throw runtime;
      }
      written.add(commands);
      commands.forEach(command -> words.add(command.command()));
    }

    @Override
    public void close() {
      beforeClosing.run();
      events.add("closed");
      if (endsWhenClosed) {
        connection.onEnded(new IllegalStateException("closed by the driver"));
      }
    }
  }

  /** Notes each answer with the number of its round. */
  private class Recorded implements Round.Answers {
    private final int number;

    Recorded(int number) {
      this.number = number;
    }

    @Override
    public void reply(int node, @Nullable Object reply) {
      note(String.valueOf(reply));
    }

    @Override
    public void error(int node, String error) {
      note(error);
    }

    @Override
    public void failure(int node, Throwable cause) {
      failures.add(cause);
      note(String.valueOf(cause.getMessage()));
    }

    void note(String answer) {
      events.add(number + " " + answer);
      if (receiverThrows) {
        throw new IllegalStateException("the receiver");
      }
    }

    @Override
    public boolean isDecided() {
      return false;
    }
  }
}
